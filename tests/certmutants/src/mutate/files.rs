//! Changes of which files there are and what they are called.

use super::{Draw, Edited};
use crate::bundle::{Bundle, MANIFEST};
use crate::json::Json;

pub(super) fn edit(draw: &mut Draw<'_>, name: &str) -> Option<Edited> {
    let mut bundle = draw.bundle.clone();
    let random = &mut *draw.random;
    let done = |family, bundle, keeps| Some(Edited { family, bundle, keeps });
    if bundle.document().is_some() {
        let other = random.pick(draw.others)?;
        bundle.files.insert(name.to_owned(), other.document()?.to_vec());
        return done("splice of a file", bundle, false);
    }
    match random.below(6) {
        0 => {
            bundle.files.remove(name)?;
            done("file deleted", bundle, false)
        }
        1 => {
            let content = bundle.files[name].clone();
            bundle.files.insert(
                ["extra.json", "cert2.json", "BUNDLE.JSON", "graph.json.bak"][random.below(4)].to_owned(),
                content,
            );
            done("file added", bundle, false)
        }
        2 => {
            let names: Vec<String> = bundle.files.keys().cloned().collect();
            let other = random.pick(&names)?;
            let (first, second) = (bundle.files[name].clone(), bundle.files[other].clone());
            bundle.files.insert(name.to_owned(), second);
            bundle.files.insert(other.clone(), first);
            done("files exchanged", bundle, false)
        }
        3 => {
            let suffix = random.below(1000);
            let renamed = renamed(&bundle, |role| format!("{role}{suffix}"))?;
            done("same: files renamed", renamed, true)
        }
        _ => {
            let foreign = random.pick(draw.others)?;
            let role = bundle.role(name)?;
            let content = foreign.files.get(&foreign.named(&role)?)?.clone();
            bundle.files.insert(name.to_owned(), content);
            done("splice of a file", bundle, false)
        }
    }
}

/// The bundle with every file under another name, by its role. The ending stays: it says how a property is read.
pub(crate) fn renamed(bundle: &Bundle, name: impl Fn(&str) -> String) -> Option<Bundle> {
    let mut manifest = Json::parse(bundle.files.get(MANIFEST)?)?;
    let Json::Object(members) = &mut manifest else { return None };
    let Json::Object(files) = &mut members.iter_mut().find(|(key, _)| key == "files")?.1 else { return None };
    let mut renamed = Bundle { files: Default::default() };
    for (role, file) in files {
        let old = file.text()?.to_owned();
        let new = format!("{}.{}", name(role), old.rsplit('.').next()?);
        renamed.files.insert(new.clone(), bundle.files.get(&old)?.clone());
        *file = Json::Text(new);
    }
    renamed.files.insert(MANIFEST.to_owned(), manifest.bytes());
    Some(renamed)
}
