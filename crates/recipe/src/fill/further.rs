//! The container's rarer keys.

use super::read::Read;
use crate::node::Node;
use crate::shape::Units;
use retrial_container::ExtraFlags;

pub(super) fn further(node: &Node) -> ExtraFlags {
    let sysctls = node.get("sysctls").into_iter().flat_map(Node::named);
    ExtraFlags {
        cap_drop: node.strings("cap_drop"),
        hostname: node.string("hostname"),
        runtime: node.string("runtime"),
        memory: node.size("memory", Units::Docker),
        cpus: node.string("cpus"),
        cpuset_cpus: node.string("cpuset_cpus"),
        cpuset_mems: node.string("cpuset_mems"),
        pids_limit: node.number("pids_limit"),
        sysctls: sysctls
            .filter_map(|(name, value)| Some((name.to_owned(), value.text()?.to_owned())))
            .collect(),
        tmpfs: node.strings("tmpfs"),
        read_only: node.truth("read_only"),
        dns: node.strings("dns"),
        add_host: node.strings("add_host"),
        cgroupns: node.string("cgroupns"),
        userns: node.string("userns"),
    }
}
