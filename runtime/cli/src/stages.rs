//! What the stages of input pipelines took, for people and for tools.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tfrt_data::ObservedStages;

use crate::rows::write_rows;

/// The stages of pipelines, over some time.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct StagesReport {
    /// The time over which they were observed.
    pub(crate) elapsed_ns: u64,
    /// Each above its inputs.
    pub(crate) stages: Vec<StageReport>,
    /// The place of the stage that takes longest itself; nothing if the consumer takes longer.
    pub(crate) bottleneck: Option<usize>,
}

/// One stage.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct StageReport {
    pub(crate) name: String,
    /// How many stages are above it.
    pub(crate) depth: usize,
    pub(crate) num_elements: u64,
    pub(crate) num_errors: u64,
    /// About how many bytes its elements have.
    pub(crate) num_bytes: u64,
    /// The time inside its draws, without the stages below.
    pub(crate) drawing_ns: u64,
    /// The time in which a draw was under way.
    pub(crate) active_ns: u64,
    /// The part of it in which no draw of a stage below was.
    pub(crate) own_ns: u64,
    /// How many draws were under way in the mean, while any was.
    pub(crate) mean_queued: f64,
    pub(crate) max_queued: u64,
    /// How many elements it works on at a time, if it has such a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) work_ahead: Option<usize>,
    /// About how many bytes the elements had that it held at most, if it holds elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_held_bytes: Option<u64>,
}

impl StagesReport {
    /// What was observed while this much time passed.
    pub(crate) fn new(mut observed: ObservedStages, elapsed: Duration) -> Self {
        observed.elapsed = elapsed;
        let stages = observed.stages.iter().enumerate();
        let stages = stages.map(|(index, stage)| StageReport {
            name: stage.name.clone(),
            depth: stage.depth,
            num_elements: stage.num_elements,
            num_errors: stage.num_errors,
            num_bytes: stage.num_bytes,
            drawing_ns: whole_ns(stage.drawing),
            active_ns: whole_ns(stage.active),
            own_ns: whole_ns(observed.own_time(index)),
            mean_queued: match stage.active.is_zero() {
                true => 0.0,
                false => stage.under_way.div_duration_f64(stage.active),
            },
            max_queued: stage.max_under_way,
            work_ahead: stage.work_ahead,
            max_held_bytes: stage.max_held_bytes,
        });
        Self {
            elapsed_ns: whole_ns(elapsed),
            stages: stages.collect(),
            bottleneck: observed.bottleneck(),
        }
    }

    /// Writes a table, and a line that names the bottleneck; nothing if there are no stages.
    pub(crate) fn write(&self, f: &mut impl fmt::Write) -> fmt::Result {
        if self.stages.is_empty() {
            return Ok(());
        }
        let has_errors = self.stages.iter().any(|stage| stage.num_errors > 0);
        let mut header = vec![
            "stage", "elements", "per s", "MB/s", "drawing", "waiting", "own", "queued", "most",
        ];
        let has_work_ahead = self.stages.iter().any(|stage| stage.work_ahead.is_some());
        header.extend(has_work_ahead.then_some("ahead"));
        let has_held = self
            .stages
            .iter()
            .any(|stage| stage.max_held_bytes.is_some());
        header.extend(has_held.then_some("held MB"));
        header.extend(has_errors.then_some("errors"));
        let mut rows = vec![header.into_iter().map(str::to_owned).collect()];
        let seconds = self.elapsed_ns.max(1) as f64 / 1e9;
        for stage in &self.stages {
            let mut row = vec![
                format!("{:indent$}{}", "", stage.name, indent = 2 * stage.depth),
                stage.num_elements.to_string(),
                format!("{:.0}", stage.num_elements as f64 / seconds),
                format!("{:.1}", stage.num_bytes as f64 / 1e6 / seconds),
                self.percent(stage.drawing_ns),
                self.percent(stage.active_ns.saturating_sub(stage.drawing_ns)),
                self.percent(stage.own_ns),
                format!("{:.1}", stage.mean_queued),
                stage.max_queued.to_string(),
            ];
            let work_ahead = stage.work_ahead;
            row.extend(has_work_ahead.then(|| match work_ahead {
                Some(number) => number.to_string(),
                None => "-".to_owned(),
            }));
            row.extend(has_held.then(|| match stage.max_held_bytes {
                Some(num_bytes) => format!("{:.2}", num_bytes as f64 / 1e6),
                None => "-".to_owned(),
            }));
            row.extend(has_errors.then(|| stage.num_errors.to_string()));
            rows.push(row);
        }
        write_rows(f, &rows)?;
        match self.bottleneck.and_then(|index| self.stages.get(index)) {
            Some(stage) => writeln!(
                f,
                "  bottleneck: `{}`, which takes {} of the time itself",
                stage.name,
                self.percent(stage.own_ns)
            ),
            None => writeln!(
                f,
                "  bottleneck: what draws the elements; the pipeline is idle most of the time"
            ),
        }
    }

    fn percent(&self, part_ns: u64) -> String {
        let part = 100.0 * part_ns as f64 / self.elapsed_ns.max(1) as f64;
        format!("{part:.1}%")
    }
}

fn whole_ns(duration: Duration) -> u64 {
    // 64 bits of nanoseconds are 584 years.
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_data::StageCounts;

    fn observed(map_ms: u64, elapsed_ms: u64) -> StagesReport {
        let ms = Duration::from_millis;
        let stage = |name: &str, parent: Option<usize>, active_ms| StageCounts {
            name: name.to_owned(),
            parent,
            depth: parent.map_or(0, |parent| parent + 1),
            num_elements: 1000,
            num_bytes: 8_000_000,
            drawing: ms(active_ms / 2),
            active: ms(active_ms),
            under_way: ms(active_ms * 3),
            max_under_way: 4,
            work_ahead: (name == "map").then_some(3),
            max_held_bytes: (name == "csv").then_some(2_500_000),
            ..StageCounts::default()
        };
        let stages = vec![
            stage("batch", None, map_ms + 10),
            stage("map", Some(0), map_ms),
            stage("csv", Some(1), 20),
        ];
        let observed = ObservedStages {
            stages,
            elapsed: ms(1),
        };
        StagesReport::new(observed, ms(elapsed_ms))
    }

    fn text(report: &StagesReport) -> String {
        let mut text = String::new();
        report.write(&mut text).unwrap();
        text
    }

    #[test]
    fn stages_are_listed_above_their_inputs() {
        assert_eq!(
            text(&observed(80, 100)),
            "  stage    elements  per s  MB/s  drawing  waiting    own  queued  most  ahead  held MB
  batch        1000  10000  80.0    45.0%    45.0%  10.0%     3.0     4      -        -
    map        1000  10000  80.0    40.0%    40.0%  60.0%     3.0     4      3        -
      csv      1000  10000  80.0    10.0%    10.0%  20.0%     3.0     4      -     2.50
  bottleneck: `map`, which takes 60.0% of the time itself
"
        );
    }

    #[test]
    fn a_slow_consumer_is_the_bottleneck() {
        let text = text(&observed(80, 1000));
        assert!(
            text.contains("bottleneck: what draws the elements"),
            "{text}"
        );
    }

    #[test]
    fn without_stages_there_is_no_table() {
        assert_eq!(text(&StagesReport::default()), "");
    }
}
