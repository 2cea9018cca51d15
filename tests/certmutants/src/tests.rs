//! A small campaign, controls that must be found out, and that what decides about truth can say no.

use crate::bundle::{Bundle, Checker, Kernel, Said};
use crate::campaign::{Case, Outcome, Plan, cases, originals, run};
use crate::json::Json;
use crate::number::{Rational, power, spelled, whole};
use crate::random::Random;
use crate::statement::{Body, Enclosure, Operation, Problem, Statement};
use crate::truth::{Effort, Standing, contradicted, shown, standing};
use crate::{accept, margin, mutate, tensors};
use certkern_claims::Arith;
use std::sync::LazyLock;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| cases(&accept()));

const KERNEL: Kernel = Kernel(Arith::Auto);

fn case(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.name == name).unwrap()
}

fn plan(count: usize) -> Plan {
    Plan { count, seed: 11, threads: 2, boxes: 60 }
}

/// The digests that are computed apart are those that the kernel names, and most claims are proved apart.
#[test]
fn every_case_states_what_the_kernel_accepts() {
    let [unproved, misnamed] = originals(&CASES, &KERNEL, 200);
    assert_eq!(misnamed, Vec::<String>::new());
    assert_eq!(CASES.len(), 42);
    let hard = ["digits_relusplit", "live_digits_conv", "live_digits_relusplit", "live_digits_root", "small_tanh"];
    assert_eq!(unproved, hard.map(|name| format!("leaves/{name}")));
}

#[test]
fn no_mutant_is_wrongly_accepted() {
    let result = run(&CASES, &KERNEL, plan(600));
    println!("{}", crate::report::table(&result));
    let wrong: Vec<String> =
        result.kept.iter().filter(|kept| kept.outcome.is_wrong()).map(crate::report::line).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(result.mutants, 600);
    for standing in [Standing::Same, Standing::Follows, Standing::Proved] {
        assert!(result.number(|outcome| *outcome == Outcome::Accepted(standing)) > 5, "{standing:?}");
    }
    assert!(result.number(|outcome| matches!(outcome, Outcome::Refused(_))) > 300);
    // Mutants get beyond the readers and the digests.
    let deep = |outcome: &Outcome| matches!(outcome, Outcome::Refused(code) if ["leaf.unproved", "witness.property"].contains(&code.as_str()));
    assert!(result.number(deep) > 10);
}

/// Accepts everything, under the right name where there is one.
struct All;

impl Checker for All {
    fn check(&self, bundle: &Bundle) -> Said {
        Said::Accepted(Statement::read(bundle).map_or_else(String::new, |statement| statement.claim))
    }
}

/// Refuses everything.
struct Nothing;

impl Checker for Nothing {
    fn check(&self, _: &Bundle) -> Said {
        Said::Refused("json.syntax".to_owned())
    }
}

#[test]
fn a_checker_that_accepts_everything_is_found_out() {
    let result = run(&CASES, &All, plan(400));
    let number = |wanted: Outcome| result.number(|outcome| *outcome == wanted);
    let (false_ones, unread) = (number(Outcome::Accepted(Standing::False)), number(Outcome::Unread));
    println!("{false_ones} false, {unread} unread");
    assert!(false_ones >= 5 && unread >= 100, "{false_ones} false, {unread} unread");
}

#[test]
fn a_checker_that_refuses_everything_is_found_out() {
    let result = run(&CASES, &Nothing, plan(400));
    assert!(result.number(|outcome| matches!(outcome, Outcome::RefusedSame(_))) >= 10);
    assert_eq!(originals(&CASES, &Nothing, 1)[1].len(), CASES.len());
}

/// A checker that names another claim than the one that it was given.
struct Other;

impl Checker for Other {
    fn check(&self, bundle: &Bundle) -> Said {
        match KERNEL.check(bundle) {
            Said::Accepted(claim) => Said::Accepted(claim.chars().rev().collect()),
            refused => refused,
        }
    }
}

#[test]
fn a_checker_that_names_another_claim_is_found_out() {
    assert!(run(&CASES, &Other, plan(100)).number(|outcome| *outcome == Outcome::Misnamed) > 5);
}

/// Every file under another name and in another order, the nodes with names, the members and tensors in another order, all numbers but
/// naturals with a digit more: the same verdict and the same claim.
#[test]
fn another_order_and_other_names_are_the_same_claim() {
    for case in CASES.iter() {
        let mut bundle = case.bundle.clone();
        if bundle.document().is_none() {
            bundle = mutate::renamed(&bundle, |role| format!("a file of the {role}")).unwrap();
        }
        let mut random = Random::new(5, 1);
        for (name, content) in &mut bundle.files {
            if name.ends_with(".safetensors") {
                let mut all = tensors::read(content).unwrap();
                all.reverse();
                *content = tensors::write(&all);
            } else if let Some(mut json) = Json::parse(content) {
                mutate::producer_names(&mut json, "another name");
                mutate::reorder(&mut json, &mut random);
                for place in json
                    .places(|value| matches!(value, Json::Number(text) if text.contains('.') && !text.contains('e')))
                {
                    if let Json::Number(text) = json.at(&place) {
                        text.push('0');
                    }
                }
                *content = json.bytes();
            } else {
                *content = [b"; a comment\n\n", content.as_slice()].concat();
            }
        }
        assert_ne!(bundle, case.bundle);
        assert_eq!(KERNEL.check(&bundle), Said::Accepted(case.statement.claim.clone()), "{}", case.name);
    }
}

/// The statement of a case with its problem changed.
fn changed(name: &str, change: impl Fn(&mut Problem)) -> Problem {
    let Body::Problem(problem) = &case(name).statement.body else { panic!("{name} is no problem") };
    let mut problem = problem.as_ref().clone();
    change(&mut problem);
    problem
}

fn proved(problem: Problem) -> bool {
    shown(&Body::Problem(Box::new(problem)), Effort { boxes: 300 })
}

/// The bounds of these cases are attained; moved inward by 10⁻³⁰ they are false, and so not proved.
#[test]
fn what_is_false_by_a_little_is_not_proved() {
    let little = power(10, -30);
    for name in ["bound/ramp", "bound/around", "bound/diamond", "bound/half", "nodes/transcript", "nodes/slopes"] {
        let rows = changed(name, |_| ()).disjuncts.len();
        for place in 0..rows {
            let moved = |by: Rational| changed(name, |problem| problem.disjuncts[place][0].bound += &by);
            assert!(proved(moved(-whole(1))), "{name} {place}");
            // Where the bound is not attained, the claim stays true.
            let tighter = moved(little.clone());
            assert!(!(violated(&tighter) && proved(tighter.clone())), "{name} {place}");
        }
        let attained =
            (0..rows).filter(|place| violated(&changed(name, |problem| problem.disjuncts[*place][0].bound += &little)));
        assert!(attained.count() >= 2, "{name}");
    }
}

/// Kinks that lie beside the middle of a box by less than boxes are cut, and a function beside its zero.
#[test]
fn what_is_moved_by_a_little_is_proved() {
    for little in [power(10, -30), power(2, -1074)] {
        let disk = changed("nodes/disk", |problem| {
            problem.region.ball.as_mut().unwrap().center[0] = little.clone();
            problem.region.ends[0] = (&little - whole(1), &little + whole(1));
        });
        assert!(proved(disk), "{little}");
        let point = |x: &Rational| changed("witness/tanh_at_zero", |problem| problem.point = Some(vec![x.clone()]));
        assert!(proved(point(&-&little)), "tanh(x) < 0 where x < 0");
        assert!(!proved(point(&little)), "tanh(x) > 0 where x > 0");
    }
}

fn violated(problem: &Problem) -> bool {
    contradicted(problem, &mut Random::new(3, 3))
}

/// sin(1) is 0.84147…: the property of `sine` says 0.8415.
#[test]
fn functions_are_bounded_from_both_sides() {
    let bound = |text: &str| {
        let bound = -spelled(text).unwrap();
        proved(changed("leaves/sine", |problem| problem.disjuncts[0][0].bound.clone_from(&bound)))
    };
    assert!(bound("0.8415") && bound("0.841471"));
    assert!(!bound("0.84147"));
}

/// Values from Abramowitz and Stegun: tables 1.1, 4.2, 7.1.
#[test]
fn expressions_lie_in_balls_that_hold_their_values_and_in_no_others() {
    let holds = |name: &str, number: &str, value: &str, radius: i64| {
        let operation = |name: &str, arguments: &[usize], numbers: &[Rational]| Operation {
            name: name.to_owned(),
            arguments: arguments.to_vec(),
            numbers: numbers.to_vec(),
        };
        let nodes = if number.is_empty() {
            vec![operation(name, &[], &[])]
        } else {
            vec![operation("rational", &[], &[spelled(number).unwrap()]), operation(name, &[0], &[])]
        };
        let outputs = vec![nodes.len() - 1];
        let balls = vec![(spelled(value).unwrap(), power(10, radius))];
        shown(&Body::Enclosure(Enclosure { nodes, outputs, balls }), Effort { boxes: 1 })
    };
    let table = [
        ("pi", "", "3.14159265358979323846264"),
        ("e", "", "2.71828182845904523536028"),
        ("ln2", "", "0.69314718055994530941723"),
        ("gamma", "", "0.57721566490153286060651"),
        ("exp", "0.5", "1.64872127070012814684865"),
        ("exp", "-1", "0.36787944117144232159552"),
        ("log", "10", "2.30258509299404568401799"),
        ("sqrt", "2", "1.41421356237309504880169"),
        ("erf", "0.5", "0.52049987781304653768274"),
        ("tanh", "0.5", "0.46211715726000975850231"),
        ("sigmoid", "0", "0.5"),
    ];
    for (name, number, value) in table {
        assert!(holds(name, number, value, -22), "{name}");
        let off = spelled(value).unwrap() + power(10, -21);
        assert!(!holds(name, number, &off.to_string(), -22), "{name}");
    }
}

/// The strengthened claims are accepted in exact arithmetic. The reference in Python proves them too, but for the one with functions that it does not
/// know, which is proved here.
#[test]
fn margins_are_room_that_claims_have() {
    let margins = margin::table();
    assert_eq!(margins.len(), 5);
    for (name, margin) in &margins {
        let said = Kernel(Arith::Exact).check(&margin::strengthened(case(name), margin).unwrap());
        assert!(matches!(said, Said::Accepted(_)), "{name}: {said:?}");
    }
    let margin = &margins["leaves/small_tanh"];
    let strengthened = changed("leaves/small_tanh", |problem| problem.disjuncts[0][0].bound += margin);
    assert!(shown(&Body::Problem(Box::new(strengthened)), Effort { boxes: 20_000 }));
}

/// A bias of the last layer moved by half the margin is near, by twice the margin it is not.
#[test]
fn what_uses_up_the_margin_is_not_near() {
    for (name, margin) in margin::table() {
        let by = |factor: f64| {
            let moved = changed(&name, |problem| {
                let last = problem.net.nodes.last_mut().unwrap();
                let bias = last.payload.iter_mut().find(|(field, _)| *field == "bias").unwrap();
                bias.1.values[0] += crate::number::near(&margin) * factor;
            });
            let claim = Statement { body: Body::Problem(Box::new(moved)), claim: String::new() };
            standing(&claim, &case(&name).statement, Some(&margin), Effort { boxes: 1 }, &mut Random::new(1, 1))
        };
        assert_eq!(by(0.5), Standing::Near, "{name}");
        assert_ne!(by(2.0), Standing::Near, "{name}");
    }
}

/// A number of the graph in the new numbering.
fn renumbered(json: &mut Json, places: &[usize]) {
    if let Json::List(items) = json {
        items.iter_mut().for_each(|item| renumbered(item, places));
    } else if let Some(id) = json.natural() {
        *json = Json::Number(places[id].to_string());
    }
}

/// The bundle with its constants before all other nodes, the last first; `None` if it has none.
fn with_constants_first(bundle: &Bundle) -> Option<Bundle> {
    let file = |role: &str| bundle.named(role);
    let mut graph = Json::parse(&bundle.files[&file("graph")?])?;
    let nodes = graph.get("nodes")?.list()?.to_vec();
    let is_constant = |node: &Json| node.get("kind").and_then(Json::text) == Some("const");
    let constants = (0..nodes.len()).rev().filter(|id| is_constant(&nodes[*id]));
    let order: Vec<usize> = constants.chain((0..nodes.len()).filter(|id| !is_constant(&nodes[*id]))).collect();
    let places: Vec<usize> = (0..nodes.len()).map(|id| order.iter().position(|own| *own == id).unwrap()).collect();
    if !nodes.iter().any(is_constant) {
        return None;
    }
    let mut ordered: Vec<Json> = order.iter().map(|id| nodes[*id].clone()).collect();
    for node in &mut ordered {
        let Json::Object(members) = node else { return None };
        members
            .iter_mut()
            .filter(|(key, _)| key == "id" || key == "parents")
            .for_each(|(_, value)| renumbered(value, &places));
    }
    let Json::Object(members) = &mut graph else { return None };
    for (key, value) in members {
        match key.as_str() {
            "nodes" => *value = Json::List(ordered.clone()),
            "input_id" | "output_ids" | "output_id" => renumbered(value, &places),
            _ => {}
        }
    }
    let mut moved = bundle.clone();
    moved.files.insert(file("graph")?, graph.bytes());
    for role in ["payload", "hints"] {
        let Some(name) = file(role) else { continue };
        let mut all = tensors::read(&bundle.files[&name])?;
        let kinds = all.iter().find(|tensor| tensor.name == "tree.kind").map(|kinds| kinds.data.clone());
        for tensor in &mut all {
            // The parts of these names that are numbers of nodes.
            let parts: Vec<&str> = tensor.name.split('.').collect();
            let ids: &[usize] = match parts[0] {
                "bounds" => &[2, 3],
                "leaf" => &[1],
                "tree" | "threshold" => &[],
                _ => &[0],
            };
            let part = |(place, part): (usize, &&str)| match part.parse::<usize>() {
                Ok(id) if ids.contains(&place) => places[id].to_string(),
                _ => (*part).to_owned(),
            };
            let renamed = parts.iter().enumerate().map(part).collect::<Vec<_>>().join(".");
            if tensor.name == "tree.node" {
                // Leaves have 0 there.
                let splits = |place: &usize| kinds.as_ref().is_some_and(|kinds| kinds[*place] == 1);
                for place in (0..tensor.elements()).filter(splits) {
                    let id = tensor.number(place)? as usize;
                    tensor.element(place).copy_from_slice(&(places[id] as u32).to_le_bytes());
                }
            }
            tensor.name = renamed;
        }
        moved.files.insert(name, tensors::write(&all));
    }
    moved.sealed()
}

/// The numbers of nodes are part of the claim (SPEC, section 6), so that it has another digest; it is accepted with the same hints.
#[test]
fn nodes_in_another_order_have_the_same_verdict() {
    let mut checked = 0;
    for case in CASES.iter() {
        let Some(bundle) = with_constants_first(&case.bundle) else { continue };
        let claim = Statement::read(&bundle).unwrap().claim;
        assert_ne!(claim, case.statement.claim, "{}", case.name);
        assert_eq!(KERNEL.check(&bundle), Said::Accepted(claim), "{}", case.name);
        checked += 1;
    }
    assert_eq!(checked, 4);
}

/// Without a folder the reference would be asked nothing, and a run would look as if it had.
#[test]
fn the_reference_is_not_asked_without_a_folder() {
    let told = |line: &str| crate::told(line.split(' ').map(str::to_owned));
    assert!(told("--count 5 --reference python").is_none());
    assert!(told("--draw 5").is_none());
    assert!(told("--count five").is_none());
    assert_eq!(told("--count 5 --keep out --reference python").unwrap().reference.as_deref(), Some("python"));
    assert_eq!(told("--draw 5 --keep out").unwrap().draw, Some(5));
    assert_eq!(told("--count 5").unwrap().plan.count, 5);
}
