//! Evidence: how each part of a theorem is known, and what it leaves to believe. Words are made of it elsewhere.

use crate::theorem::{Proposition, Subject, Theorem};

/// How something is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The kernel derived it.
    Proved,
    /// A structural check of the kernel guards it.
    Guarded,
    /// A test agreed.
    Compared,
    /// Another program is believed.
    Delegated,
    /// Nobody checked it.
    Assumed,
}

/// A count of what was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// What is counted.
    pub name: &'static str,
    /// How many.
    pub number: usize,
}

/// A part of what was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Every node of the graph has the shape that its operator gives.
    Shape,
    /// The digests are those of the documents that were checked.
    Binding,
    /// No coefficient and no function of the network falls.
    Signs,
    /// The leaves of each tree cover the region, for every disjunct.
    Coverage,
    /// Each leaf is closed by a bound of the kernel.
    Leaves,
    /// The point lies in the region, and with its outputs in the unsafe set.
    Witness,
    /// Every operation is defined on all values of its arguments.
    Domain,
    /// Each value lies in its ball.
    Values,
    /// The numbers by which all this was decided.
    Arithmetic,
}

/// What ties the proposition to the user's system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Premise<'a> {
    /// Graph and payload are the user's model.
    Model,
    /// The expressions are those that the user means.
    Query,
    /// The user's model gave, at so many points, what the graph gives.
    Probes(usize),
    /// Region and unsafe set are the user's property.
    Property,
    /// An execution in floating point may differ.
    RealArithmetic,
    /// What lies outside the graph is no part of the proposition.
    OutsideTheGraph,
    /// Something that the bundle names lies outside.
    Outside(&'a str),
    /// Some input satisfies the linear constraints of the region.
    NonemptyRegion,
    /// The processor computes binary64 as IEEE 754 says; the matrix product is this one.
    Binary64(&'static str),
    /// Kernel, dependencies, compiler and machine are right.
    TrustedBase,
}

impl Theorem {
    /// What was shown, part by part.
    #[must_use]
    pub fn shown(&self) -> Vec<(Part, Evidence)> {
        let proved: &[Part] = match self.proposition() {
            Proposition::WellShaped => &[],
            Proposition::Monotone => &[Part::Signs, Part::Arithmetic],
            Proposition::Unsat | Proposition::Bound | Proposition::Nodes => {
                &[Part::Coverage, Part::Leaves, Part::Arithmetic]
            }
            Proposition::Sat => &[Part::Witness, Part::Arithmetic],
            Proposition::Enclosure => &[Part::Domain, Part::Values, Part::Arithmetic],
        };
        let shape = (self.proposition() != Proposition::Enclosure).then_some((Part::Shape, Evidence::Guarded));
        let guarded = shape.into_iter().chain([(Part::Binding, Evidence::Guarded)]);
        guarded.chain(proved.iter().map(|part| (*part, Evidence::Proved))).collect()
    }

    /// What is left to believe. `Compared` where a test agreed.
    #[must_use]
    pub fn premises(&self) -> Vec<(Premise<'_>, Evidence)> {
        let assumed = |premise| (premise, Evidence::Assumed);
        let mut list = match self.subject() {
            Subject::Enclosure { .. } => vec![assumed(Premise::Query)],
            Subject::Graph { .. } | Subject::Problem { .. } => vec![(Premise::Model, self.model())],
        };
        if self.probes() > 0 {
            list.push((Premise::Probes(self.probes()), Evidence::Compared));
        }
        if matches!(self.subject(), Subject::Problem { .. }) {
            list.push((Premise::Property, self.specification()));
        }
        if !matches!(self.proposition(), Proposition::WellShaped | Proposition::Enclosure) {
            list.extend([Premise::RealArithmetic, Premise::OutsideTheGraph].map(assumed));
        }
        if let Subject::Problem { rows, outside, .. } = self.subject() {
            list.extend(outside.iter().map(|text| assumed(Premise::Outside(text))));
            list.extend((*rows > 0).then(|| assumed(Premise::NonemptyRegion)));
        }
        list.extend(self.binary64().map(|product| assumed(Premise::Binary64(product))));
        list.push(assumed(Premise::TrustedBase));
        list
    }
}
