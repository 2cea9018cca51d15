//! Changes of safetensors files: payloads and hints.

use super::{Changed, Draw, Way};
use crate::json::Json;
use crate::number::power;
use crate::random::Random;
use crate::tensors::{self, Tensor, encoded, moved};

pub(super) fn edit(draw: &mut Draw<'_>, content: &[u8]) -> Option<Changed> {
    let mut all = tensors::read(content)?;
    let random = &mut *draw.random;
    if all.is_empty() {
        all.push(Tensor { name: "1.bias".to_owned(), dtype: "F64".to_owned(), shape: vec![1], data: vec![0; 8] });
        return Some(("tensor doubled", tensors::write(&all), false));
    }
    let (a, b) = (random.below(all.len()), random.below(all.len()));
    let done = |family, all: &[Tensor]| Some((family, tensors::write(all), false));
    match random.below(16) {
        0 => {
            drop(all.remove(a));
            done("tensor deleted", &all)
        }
        1 => {
            let mut copy = all[a].clone();
            copy.name = if random.one_in(3) { copy.name } else { changed_name(&all[b].name, random) };
            all.insert(random.below(all.len() + 1), copy);
            done("tensor doubled", &all)
        }
        2 => {
            all[a].name = changed_name(&all[a].name, random);
            done("tensor renamed", &all)
        }
        3 => {
            reshape(&mut all[a], random)?;
            done("tensor reshaped", &all)
        }
        4 => {
            let (first, second) = (all[a].clone(), all[b].clone());
            (a != b).then_some(())?;
            all[a] = Tensor { name: first.name, ..second.clone() };
            all[b] = Tensor { name: second.name, ..all[b].clone() };
            all[b] = Tensor { dtype: first.dtype, shape: first.shape, data: first.data, ..all[b].clone() };
            done("tensors exchanged", &all)
        }
        5 => {
            let (header, data) = tensors::header(content)?;
            match random.below(3) {
                0 => {
                    all.reverse();
                    all.rotate_left(a);
                    Some(("same: tensors reordered", tensors::write(&all), true))
                }
                1 => {
                    let mut header = header;
                    let note = Json::Object(vec![("note".to_owned(), Json::Text("x".to_owned()))]);
                    header.set("__metadata__", note);
                    Some(("same: spelling", tensors::with_header(&header, data), true))
                }
                _ => {
                    let mut header = header;
                    let places = header.places(|value| matches!(value, Json::Number(_)));
                    let number = header.at(random.pick(&places)?);
                    let value = number.natural()?;
                    *number = Json::Number(match random.below(3) {
                        0 => (value + 1).to_string(),
                        1 => value.saturating_sub(1).to_string(),
                        _ => "18446744073709551615".to_owned(),
                    });
                    Some(("header", tensors::with_header(&header, data), false))
                }
            }
        }
        6 => {
            let foreign: Vec<Tensor> = draw
                .others
                .iter()
                .flat_map(|other| other.files.values())
                .filter_map(|file| tensors::read(file))
                .flatten()
                .collect();
            let alike: Vec<&Tensor> = foreign.iter().filter(|tensor| tensor.dtype == all[a].dtype).collect();
            let part = (*random.pick(&alike)?).clone();
            if random.one_in(2) {
                let length = part.data.len().min(all[a].data.len());
                all[a].data[..length].copy_from_slice(&part.data[..length]);
            } else {
                all[a] = Tensor { name: all[a].name.clone(), ..part };
            }
            done("splice of a tensor", &all)
        }
        7 => {
            let tensor = &mut all[a];
            (tensor.elements() > 1).then_some(())?;
            let (i, j) = (random.below(tensor.elements()), random.below(tensor.elements()));
            let (first, second) = (tensor.element(i).to_vec(), tensor.element(j).to_vec());
            tensor.element(i).copy_from_slice(&second);
            tensor.element(j).copy_from_slice(&first);
            done("elements exchanged", &all)
        }
        _ => {
            let family = element(&mut all[a], random)?;
            done(family, &all)
        }
    }
}

fn changed_name(name: &str, random: &mut Random) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    match random.below(3) {
        0 => format!("{name}_"),
        _ => {
            let place = random.below(parts.len());
            let other = parts[place].parse::<usize>().map_or("slope".to_owned(), |number| (number + 1).to_string());
            parts
                .iter()
                .enumerate()
                .map(|(own, part)| if own == place { other.as_str() } else { part })
                .collect::<Vec<_>>()
                .join(".")
        }
    }
}

fn reshape(tensor: &mut Tensor, random: &mut Random) -> Option<()> {
    match random.below(4) {
        0 => tensor.shape.reverse(),
        1 => tensor.shape.insert(0, 1),
        2 => {
            let width = tensor.size() * tensor.shape.get(1..)?.iter().product::<usize>();
            let rows = tensor.shape.first_mut()?;
            *rows = rows.checked_sub(1)?;
            tensor.data.truncate(*rows * width);
        }
        _ => {
            let width = tensor.size() * tensor.shape.get(1..)?.iter().product::<usize>();
            *tensor.shape.first_mut()? += 1;
            let last = tensor.data.get(tensor.data.len().checked_sub(width)?..)?.to_vec();
            tensor.data.extend(last);
        }
    }
    Some(())
}

/// Changes an element; the family.
fn element(tensor: &mut Tensor, random: &mut Random) -> Option<&'static str> {
    let elements = tensor.elements();
    (elements > 0).then_some(())?;
    let place = random.below(elements);
    let old = tensor.number(place)?;
    if !tensor.dtype.starts_with('F') {
        let (family, value) = match random.below(3) {
            0 => ("element by another", [0.0, 1.0, 255.0, 4_294_967_295.0, 2.0][random.below(5)]),
            _ => ("element by one", if random.one_in(2) { old + 1.0 } else { old - 1.0 }),
        };
        let bytes = encoded(&tensor.dtype, value.max(0.0))?;
        tensor.element(place).copy_from_slice(&bytes);
        return Some(family);
    }
    let up = random.one_in(2);
    let (family, value) = match Way::draw(random) {
        Way::Ulp => (
            "element by an ulp",
            if tensor.dtype == "F32" {
                ulp32(old as f32, up)
            } else if up {
                old.next_up()
            } else {
                old.next_down()
            },
        ),
        Way::Little => ("element by 10^-30", moved(old, &if up { power(10, -30) } else { -power(10, -30) })),
        Way::Sign => ("element by its sign", -old),
        Way::One => ("element by one", if up { old + 1.0 } else { old - 1.0 }),
        Way::Another => (
            "element by another",
            match random.below(4) {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => old * 1.001,
                _ => Way::another(random),
            },
        ),
    };
    let bytes = encoded(&tensor.dtype, value)?;
    tensor.element(place).copy_from_slice(&bytes);
    Some(family)
}

fn ulp32(value: f32, up: bool) -> f64 {
    f64::from(if up { value.next_up() } else { value.next_down() })
}
