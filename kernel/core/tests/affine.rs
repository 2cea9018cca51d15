//! The affine primitive against naive rational evaluation: adjoint law, denominators, intervals.

mod support;

use certkern_core::affine::{Affine, Convolution, LinearMap, Term};
use certkern_core::interval::Interval;
use certkern_core::num::{Dyadic, Planes, Rational};
use certkern_core::tensor::{Tensor, Values};
use num_bigint::BigInt;
use num_traits::{One, Zero};
use support::{Map, Random, d, exact, power, q};

fn numbers(random: &mut Random, n: usize, odd: bool) -> Vec<Rational> {
    (0..n).map(|_| random.rational(odd)).collect()
}

fn random_convolution(random: &mut Random, odd: bool) -> Map {
    let rank = 1 + random.below(3);
    let mut axes = |low: i64, high: i64| (0..rank).map(|_| random.between(low, high) as usize).collect::<Vec<_>>();
    let (input, kernel, stride) = (axes(1, 4), axes(1, 3), axes(1, 3));
    // The output need not be the usual one: places outside count as zero.
    let (padding, dilation, output) = (axes(0, 3), axes(1, 3), axes(1, 3));
    let (batch, in_channels, out_channels) = (1 + random.below(2), 1 + random.below(3), 1 + random.below(3));
    let size = out_channels * in_channels * kernel.iter().product::<usize>();
    let g = Convolution { batch, in_channels, out_channels, input, kernel, stride, padding, dilation, output };
    Map::Convolution(Box::new(g), numbers(random, size, odd))
}

/// Every kind of map.
fn random_map(random: &mut Random, odd: bool) -> Map {
    let width = 1 + random.below(5);
    match random.below(7) {
        0 => Map::Identity(width),
        1 => Map::Negation(width),
        2 => Map::Diagonal(numbers(random, width, odd)),
        3 => {
            let mut source = |_| if random.chance(25) { None } else { Some(random.below(width)) };
            Map::Select((0..7).map(&mut source).collect(), width)
        }
        4 => {
            let (batch, rows, columns) = (1 + random.below(3), 1 + random.below(4), 1 + random.below(4));
            Map::Dense(batch, rows, columns, numbers(random, rows * columns, odd))
        }
        _ => random_convolution(random, odd),
    }
}

fn dot(a: &[Rational], b: &[Rational]) -> Rational {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn dyadics(random: &mut Random, n: usize, reach: i64) -> Vec<Dyadic> {
    (0..n).map(|_| d(random.bits() as i64 >> random.below(64), random.between(-reach, reach))).collect()
}

/// `A e_j` for each `j`.
fn columns(map: &Map) -> Vec<Vec<Rational>> {
    let basis = |j| (0..map.input_width()).map(|i| q(i64::from(i == j), 1)).collect::<Vec<_>>();
    (0..map.input_width()).map(|j| map.apply(&basis(j))).collect()
}

/// `⟨Ax, y⟩ = ⟨x, Aᵀy⟩` on the whole basis of `x`, so that every entry of the adjoint is pinned.
fn adjoint_law(map: &Map, built: &LinearMap, y: &[Dyadic]) {
    assert_eq!((built.input_width(), built.output_width()), (map.input_width(), map.output_width()));
    let back = built.adjoint(&Planes::exact(y)).unwrap();
    assert_eq!(back.len(), map.input_width());
    let y: Vec<Rational> = y.iter().map(Dyadic::to_rational).collect();
    for (j, column) in columns(map).iter().enumerate() {
        assert_eq!(back.get(j).unwrap().to_rational(), dot(column, &y), "{map:?}, column {j}");
    }
    assert!(built.adjoint(&Planes::zeros(map.output_width() + 1)).is_none());
}

#[test]
fn the_adjoint_is_the_adjoint() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let map = random_map(&mut random, false);
        let reach = [0, 120, 1000][random.below(3)];
        let y = dyadics(&mut random, map.output_width(), reach);
        adjoint_law(&map, &map.build(), &y);
    }
}

#[test]
fn the_adjoint_of_float_weights_of_all_magnitudes_is_exact() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (rows, columns, batch) = (1 + random.below(4), 1 + random.below(4), 1 + random.below(2));
        let double = |random: &mut Random| loop {
            let value = f64::from_bits(random.bits());
            if value.is_finite() {
                return if random.chance(10) { f64::from_bits(random.bits() >> 12) } else { value };
            }
        };
        let floats: Vec<f64> = (0..rows * columns).map(|_| double(&mut random)).collect();
        let weight = floats.iter().map(|v| Rational::from_float(*v).unwrap()).collect();
        let tensor = Tensor::new(vec![rows, columns], Values::Binary64(floats.iter().map(|v| v.to_bits()).collect()));
        let built = LinearMap::dense(&tensor.unwrap(), batch).unwrap();
        let map = Map::Dense(batch, rows, columns, weight);
        let y = dyadics(&mut random, map.output_width(), 300);
        adjoint_law(&map, &built, &y);
    }
}

/// `Σ L p + b` at `points`, naively.
fn evaluate(maps: &[Map], bias: Option<&[Rational]>, points: &[Vec<Rational>], width: usize) -> Vec<Rational> {
    let mut sum = bias.map_or_else(|| vec![Rational::zero(); width], <[Rational]>::to_vec);
    for (map, x) in maps.iter().zip(points) {
        sum.iter_mut().zip(map.apply(x)).for_each(|(s, v)| *s += v);
    }
    sum
}

fn affine(maps: &[Map], bias: Option<&[Rational]>, width: usize) -> Affine {
    let terms = maps.iter().enumerate().map(|(parent, map)| Term { parent, map: map.build() }).collect();
    Affine::new(width, terms, bias.map(|b| exact(&[b.len()], b)).as_ref()).unwrap()
}

#[test]
fn coefficients_over_one_denominator_mean_the_same_map() {
    // ⟨(Σ L p + b), y⟩ = (Σ ⟨p, Lᵀy⟩ + ⟨b, y⟩) / D, exactly.
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let first = random_map(&mut random, true);
        let width = first.output_width();
        let maps = vec![first, Map::Dense(1, width, 2, numbers(&mut random, 2 * width, true)), Map::Negation(width)];
        let bias = random.chance(80).then(|| numbers(&mut random, width, true));
        let built = affine(&maps, bias.as_deref(), width);
        let y = dyadics(&mut random, width, 60);
        let points: Vec<Vec<Rational>> = maps.iter().map(|m| numbers(&mut random, m.input_width(), true)).collect();
        let row = Planes::exact(&y);
        let mut scaled = built.bias().map_or_else(Rational::zero, |b| row.dot(b).unwrap().to_rational());
        for (term, x) in built.terms().iter().zip(&points) {
            let back = term.map.adjoint(&row).unwrap();
            scaled += dot(&(0..back.len()).map(|j| back.get(j).unwrap().to_rational()).collect::<Vec<_>>(), x);
        }
        let y: Vec<Rational> = y.iter().map(Dyadic::to_rational).collect();
        let expected = dot(&evaluate(&maps, bias.as_deref(), &points, width), &y);
        assert_eq!(scaled / Rational::from_integer(built.denominator().clone()), expected);
    }
}

#[test]
fn thirds_and_tenths_mix_with_floats() {
    let third = exact(&[1, 1], &[q(1, 3)]);
    let tenth = Tensor::new(vec![1, 1], Values::Binary32(vec![0.1_f32.to_bits()])).unwrap();
    let bias = exact(&[1], &[q(7, 10)]);
    let terms =
        [&third, &tenth].map(|w| LinearMap::dense(w, 1).unwrap()).into_iter().map(|map| Term { parent: 0, map });
    let built = Affine::new(1, terms.collect(), Some(&bias)).unwrap();
    // 3 and the odd part of 10; a float's denominator is a power of two.
    assert_eq!(*built.denominator(), BigInt::from(15));
    let row = Planes::exact(&[d(1, 0)]);
    let entry = |i: usize| built.terms()[i].map.adjoint(&row).unwrap().get(0).unwrap().to_rational() / q(15, 1);
    assert_eq!(entry(0), q(1, 3));
    assert_eq!(entry(1), q(13_421_773, 134_217_728));
    assert_eq!(built.bias().unwrap().get(0).unwrap().to_rational() / q(15, 1), q(7, 10));
}

fn interval(lower: &Rational, upper: &Rational) -> Interval {
    Interval::around(lower, upper)
}

#[test]
fn intervals_contain_values_are_tight_and_grow_with_their_inputs() {
    for seed in 0..250 {
        let mut random = Random::new(seed);
        let odd = random.chance(50);
        let first = random_map(&mut random, odd);
        let width = first.output_width();
        let maps = vec![first, Map::Identity(width)];
        let bias = random.chance(70).then(|| numbers(&mut random, width, odd));
        let built = affine(&maps, bias.as_deref(), width);
        let boxes: Vec<(Vec<Rational>, Vec<Rational>)> =
            maps.iter().map(|m| support::random_box(&mut random, m.input_width(), odd)).collect();
        let ends = |grow: &Rational| -> Vec<Vec<Interval>> {
            let ends = |(l, u): &(Vec<Rational>, Vec<Rational>)| {
                l.iter().zip(u).map(|(l, u)| interval(&(l - grow), &(u + grow))).collect()
            };
            boxes.iter().map(ends).collect()
        };
        let image = |inputs: &[Vec<Interval>]| {
            built.interval(width, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
        };
        let (inner, outer) = (image(&ends(&q(0, 1))), image(&ends(&q(1, 7))));
        for (small, large) in inner.iter().zip(&outer) {
            assert!(large.lower <= small.lower && small.upper <= large.upper);
        }
        // Each end is reached at a corner that the signs of the row choose, up to the rounding of the ends.
        let columns: Vec<Vec<Vec<Rational>>> = maps.iter().map(columns).collect();
        for (output, found) in inner.iter().enumerate() {
            let (mut low, mut high) = (Rational::zero(), Rational::zero());
            for (columns, (lower, upper)) in columns.iter().zip(&boxes) {
                for (column, (l, u)) in columns.iter().zip(lower.iter().zip(upper)) {
                    let (a, b) = (&column[output] * l, &column[output] * u);
                    low += a.clone().min(b.clone());
                    high += a.max(b);
                }
            }
            let shift = bias.as_ref().map_or_else(Rational::zero, |b| b[output].clone());
            let (low, high, slack) = (low + &shift, high + &shift, if odd { power(-140) } else { q(0, 1) });
            assert!(found.lower.to_rational() <= low && high <= found.upper.to_rational());
            assert!(low - found.lower.to_rational() <= slack && found.upper.to_rational() - high <= slack);
        }
        for _ in 0..3 {
            let points: Vec<Vec<Rational>> =
                boxes.iter().map(|(l, u)| support::random_point(&mut random, l, u)).collect();
            for (value, found) in evaluate(&maps, bias.as_deref(), &points, width).iter().zip(&inner) {
                assert!(found.lower.to_rational() <= *value && *value <= found.upper.to_rational());
            }
        }
    }
}

#[test]
fn intervals_of_floats_of_all_magnitudes_contain_values() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let (rows, columns) = (1 + random.below(3), 1 + random.below(3));
        let weight: Vec<Rational> = dyadics(&mut random, rows * columns, 900).iter().map(Dyadic::to_rational).collect();
        let map = Map::Dense(1, rows, columns, weight);
        let built = affine(std::slice::from_ref(&map), None, rows);
        let (a, b) = (dyadics(&mut random, columns, 900), dyadics(&mut random, columns, 900));
        let ends: Vec<Interval> = a
            .iter()
            .zip(&b)
            .map(|(a, b)| Interval { lower: a.clone().min(b.clone()), upper: a.clone().max(b.clone()) })
            .collect();
        let image = built.interval(rows, &[&ends]).unwrap();
        for corner in [&a, &b] {
            let x: Vec<Rational> = corner.iter().map(Dyadic::to_rational).collect();
            for (value, found) in map.apply(&x).iter().zip(&image) {
                assert!(found.lower.to_rational() <= *value && *value <= found.upper.to_rational());
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    assert!(LinearMap::select(vec![Some(2)], 2).is_none());
    assert!(LinearMap::dense(&exact(&[2], &[q(1, 1), q(1, 1)]), 1).is_none(), "a matrix has two axes");
    let weight = exact(&[1, 2], &[q(1, 1), q(1, 1)]);
    let term = || Term { parent: 0, map: LinearMap::dense(&weight, 1).unwrap() };
    assert!(Affine::new(2, vec![term()], None).is_none(), "the map gives one coordinate");
    assert!(Affine::new(1, vec![term()], Some(&exact(&[2], &[q(0, 1), q(0, 1)]))).is_none());
    let built = Affine::new(1, vec![term()], None).unwrap();
    let zero = Interval::point(Dyadic::zero());
    assert!(built.interval(1, &[]).is_none(), "one list for each term");
    assert!(built.interval(1, &[std::slice::from_ref(&zero)]).is_none(), "two coordinates go in");
    assert!(built.interval(2, &[&[zero.clone(), zero]]).is_none(), "one comes out");
}

/// Products of 39 digits each, 2^15 of them: 39 · 2^15 < 2^21 < 39 · 2^16.
#[test]
fn sums_of_too_many_products_are_refused() {
    let sum = |terms: usize| {
        let weight: Vec<Rational> = (0..terms).map(|i| power(if i % 2 == 0 { -1000 } else { 1000 })).collect();
        let row: Vec<Dyadic> = (0..terms).map(|i| d(1, if i % 2 == 0 { 1000 } else { -1000 })).collect();
        let sum = LinearMap::dense(&exact(&[terms, 1], &weight), 1).unwrap().adjoint(&Planes::exact(&row))?;
        sum.get(0)
    };
    assert_eq!(sum(1 << 15), Some(d(1, 15)));
    assert_eq!(sum(1 << 16), None);
}

/// A digit more of every coordinate is a row of accumulators more: 2^24 of them are the budget, whatever the weights are.
#[test]
fn sums_that_take_too_much_memory_are_refused() {
    let (low, high) = (power(-1000), power(1000));
    let adjoint = |weight: [&Rational; 2], batch: usize| {
        let weight = exact(&[1, 2], &weight.map(Clone::clone));
        LinearMap::dense(&weight, batch).unwrap().adjoint(&Planes::exact(&vec![d(1, 0); batch]))
    };
    let most = 1 << 17;
    assert!(adjoint([&high, &high], most).is_some());
    assert!(adjoint([&low, &low], most).is_some());
    assert!(adjoint([&low, &high], 1 << 10).is_some());
    // 39 digits of 52 bits lie between the two: 39 · 2 · 2^17 < 2^24 < 39 · 2 · 2^18.
    assert!(adjoint([&low, &high], most).is_some());
    assert!(adjoint([&low, &high], 2 * most).is_none());
    assert!(adjoint([&high, &high], 2 * most).is_some());
}

#[test]
fn a_convolution_must_step() {
    let geometry = |dilation: usize, stride: usize, padding: usize| Convolution {
        batch: 1,
        in_channels: 1,
        out_channels: 1,
        input: vec![3],
        kernel: vec![2],
        stride: vec![stride],
        padding: vec![padding],
        dilation: vec![dilation],
        output: vec![2],
    };
    let weight = exact(&[1, 1, 2], &[q(1, 1), q(1, 1)]);
    assert!(LinearMap::convolution(&weight, geometry(1, 1, 0)).is_some());
    // Dilation 0 lets both kernel places meet one input place, more terms for one sum than are counted.
    assert!(LinearMap::convolution(&weight, geometry(0, 1, 0)).is_none());
    // A place beyond the machine's integers is no place in the padding: 2·2^63 − (2^64 − 1) = 1 lies in the input.
    assert!(LinearMap::convolution(&weight, geometry(1, 1 << 63, usize::MAX)).is_none());
    let other_rank = Convolution { padding: vec![0, 0], ..geometry(1, 1, 0) };
    assert!(LinearMap::convolution(&weight, other_rank).is_none());
}

#[test]
fn denominators_and_magnitudes_that_explode_are_refused() {
    // Distinct odd denominators: the common one has more than 1024 bits.
    let primes = (3_i64..4000).filter(|n| (2..*n).take_while(|p| p * p <= *n).all(|p| n % p != 0));
    let many: Vec<Rational> = primes.take(400).map(|p| q(1, p)).collect();
    assert!(LinearMap::dense(&exact(&[20, 20], &many), 1).is_none());
    let bias = exact(&[400], &many);
    assert!(Affine::new(400, vec![Term { parent: 0, map: LinearMap::identity(400) }], Some(&bias)).is_none());
    // Two maps that are short by themselves, but not together.
    let denominator = |base: u32| Rational::new(BigInt::one(), num_traits::Pow::pow(BigInt::from(base), 300_u32));
    let term = |base| Term { parent: 0, map: LinearMap::dense(&exact(&[1, 1], &[denominator(base)]), 1).unwrap() };
    assert!(Affine::new(1, vec![term(3), term(3)], None).is_some());
    assert!(Affine::new(1, vec![term(3), term(5)], None).is_none());
    let far = [power(-13_000), power(13_000)];
    assert!(LinearMap::dense(&exact(&[1, 2], &far), 1).is_none());
    assert!(LinearMap::dense(&exact(&[1, 1], &far[..1]), 1).is_some());
    // All of binary64 stays possible.
    let spread = Tensor::new(vec![1, 2], Values::Binary64(vec![1, f64::MAX.to_bits()])).unwrap();
    assert!(LinearMap::dense(&spread, 1).is_some());
}
