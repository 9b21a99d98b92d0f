//! Configurations as text: the text format of protocol buffers, on one line.

use std::fmt;

use super::{
    ClusterConfiguration, CollectiveGroupConfiguration, DistributedContextConfiguration,
    JobConfiguration,
};

/// Writes fields with blanks between them.
#[derive(Default)]
struct Fields(String);

impl Fields {
    fn add(&mut self, field: fmt::Arguments<'_>) {
        use fmt::Write;
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        // Writing into a string cannot fail.
        let _ = self.0.write_fmt(field);
    }

    /// Adds a text in quotes; an empty one is omitted, like any field with its default.
    fn add_text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.add(format_args!("{name}: {}", Quoted(text)));
        }
    }
}

struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_default())
    }
}

fn job(job: &JobConfiguration) -> String {
    let mut fields = Fields::default();
    fields.add_text("name", &job.name);
    for (id, address) in &job.tasks {
        let address = Quoted(address);
        fields.add(format_args!("tasks {{ key: {id} value: {address} }}"));
    }
    fields.0
}

fn cluster(cluster: &ClusterConfiguration) -> String {
    let mut fields = Fields::default();
    for one in &cluster.jobs {
        fields.add(format_args!("jobs {{ {} }}", job(one)));
    }
    fields.add_text("lead_task_name", &cluster.lead_task_name);
    fields.0
}

fn group(group: &CollectiveGroupConfiguration) -> String {
    let mut fields = Fields::default();
    fields.add_text("name", &group.name);
    for member in &group.members {
        fields.add(format_args!("members: {}", Quoted(member)));
    }
    fields.add_text("order", &group.order);
    fields.0
}

impl fmt::Display for DistributedContextConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        if let Some(config) = &self.cluster_config {
            fields.add(format_args!("cluster_config {{ {} }}", cluster(config)));
        }
        for one in &self.collective_groups {
            fields.add(format_args!("collective_groups {{ {} }}", group(one)));
        }
        fields.add_text("job_name", &self.job_name);
        if self.task_id != 0 {
            fields.add(format_args!("task_id: {}", self.task_id));
        }
        f.write_str(&fields.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_printed_whole() {
        let configuration =
            &DistributedContextConfiguration::local_cluster(&["a".to_owned(), "b\"".to_owned()])[1];
        assert_eq!(
            configuration.to_string(),
            "cluster_config { jobs { name: \"worker\" tasks { key: 0 value: \"a\" } tasks \
             { key: 1 value: \"b\\\"\" } } lead_task_name: \"/job:worker/task:0\" } \
             collective_groups \
             { name: \"group1\" members: \"/job:worker/task:0\" members: \"/job:worker/task:1\" } \
             job_name: \"worker\" task_id: 1"
        );
        assert_eq!(DistributedContextConfiguration::default().to_string(), "");
    }
}
