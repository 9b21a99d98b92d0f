//! Damaged models: each is read, imported and rewritten, or refused, but nothing panics.

use super::*;
use common::{damage, models};
use tfrt_import::rewrite::Folding;

/// How many damaged models are made of each model, by each kind of damage.
const NUM_DAMAGED: usize = 60;

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

/// How far damaged models got.
#[derive(Default, Debug)]
struct Progress {
    num_read: usize,
    num_imported: usize,
}

impl Progress {
    /// Reads, imports and rewrites a model. An error is as good as a program.
    fn try_model(&mut self, file: Vec<u8>, host: &Arc<HostContext>) {
        let Ok(model) = Model::from_bytes(file, &damage::limits()) else {
            return;
        };
        self.num_read += 1;
        let mut options = Options::default();
        options.limits = damage::limits();
        let Ok(mut program) = model.import(&options) else {
            return;
        };
        self.num_imported += 1;
        program.clone().rewrite(&RewriteRules::default());
        let folding = Folding::new(host, &damage::limits()).unwrap();
        program.rewrite_and_fold(&RewriteRules::default(), folding);
    }
}

#[test]
fn damaged_models_are_refused_or_rewritten() {
    let host = common::builder::host();
    for (index, sample) in models::all(2).into_iter().enumerate() {
        let mut random = Random(index as u64 + 1);
        let model = sample.model();
        let file = model.encode_to_vec();
        let [mut cut, mut flipped, mut changed] = [(); 3].map(|()| Progress::default());
        for _ in 0..NUM_DAMAGED {
            let len = random.below(file.len());
            cut.try_model(file[..len].to_vec(), &host);
            let mut bytes = file.clone();
            for _ in 0..=random.below(3) {
                bytes[random.below(file.len())] ^= 1 << random.below(8);
            }
            flipped.try_model(bytes, &host);
            let mut other = model.clone();
            for _ in 0..=random.below(2) {
                damage::change(&mut other, &mut |bound| random.below(bound));
            }
            changed.try_model(other.encode_to_vec(), &host);
        }
        let name = sample.name;
        // Damage that is refused at once shows nothing.
        assert!(cut.num_read < NUM_DAMAGED, "{name}: {cut:?}");
        assert!(
            flipped.num_imported > NUM_DAMAGED / 20,
            "{name}: {flipped:?}"
        );
        assert!(
            changed.num_imported > NUM_DAMAGED / 20,
            "{name}: {changed:?}"
        );
    }
}
