//! A recipe that was checked, as the plan wants it. Each reader gives `None` only where a value is
//! absent or where the check let through what it should not have.

mod figures;
mod further;
pub mod read;
mod scenarios;
mod steps;

use std::collections::BTreeMap;

pub use figures::{entry_name, figure_name};
pub use scenarios::loadgen_name;

use super::model::{
    Container, Entrypoint, GpuAccess, GpuRequest, GpuVendor, Image, JudgeRules, MountRequest,
    Recipe, Requires, Submission, Template,
};
use super::names::Names;
use super::node::Node;
use super::shape::Units;
use further::further;
use read::Read;
use retrial_container::Ulimit;

/// The recipe. None means that the check is not as strict as the reader: a fault of ours.
pub fn fill(name: &str, node: &Node, names: &Names) -> Option<Recipe> {
    let map = |key: &str| node.get(key).into_iter().flat_map(Node::named);
    let setup = |key: &str| {
        map(key)
            .map(|(name, node)| Some((name.to_owned(), steps::setup(node)?)))
            .collect::<Option<Vec<_>>>()
    };
    Some(Recipe {
        name: name.to_owned(),
        title: node.string("title")?.trim().to_owned(),
        description: node.string("description"),
        expected_duration: node.duration("expected_duration"),
        host_notes: node.strings("host_notes"),
        deviations: node.strings("deviations"),
        submission: submission(node.get("submission")?)?,
        params: names.scope.params.clone(),
        variant: names.scope.variant.clone(),
        modified: names.modified.clone(),
        image: image(node.get("image")?)?,
        requires: match node.get("requires") {
            Some(node) => requires(node)?,
            None => Requires::default(),
        },
        container: match node.get("container") {
            Some(node) => container(node)?,
            None => Container::default(),
        },
        files: map("files")
            .map(|(source, target)| steps::companion(source, target))
            .collect::<Option<_>>()?,
        copy_from_image: node
            .items_of("copy_from_image")
            .map(steps::copy)
            .collect::<Option<_>>()?,
        models: map("models")
            .map(|(name, node)| Some((name.to_owned(), steps::model(node)?)))
            .collect::<Option<_>>()?,
        datasets: setup("datasets")?,
        setup: setup("setup")?,
        commands: map("commands")
            .map(|(name, node)| Some((name.to_owned(), steps::command(node)?)))
            .collect::<Option<_>>()?,
        scenarios: map("scenarios")
            .map(|(name, node)| Some((name.to_owned(), scenarios::scenario(name, node)?)))
            .collect::<Option<_>>()?,
        judge: match node.get("judge") {
            Some(node) => judge(node),
            None => JudgeRules::default(),
        },
        secrets: node.strings("secrets"),
    })
}

fn submission(node: &Node) -> Option<Submission> {
    Some(Submission {
        suite: node.string("suite")?,
        round: node.string("round"),
        division: node.string("division"),
        submitter: node.string("submitter"),
        system: node.string("system"),
        benchmark: node.string("benchmark")?,
        sources: node.strings("sources"),
    })
}

fn image(node: &Node) -> Option<Image> {
    if let Some(text) = node.text() {
        return Some(pull(text, None));
    }
    if let Some(build) = node.get("build") {
        let args = build.get("args").into_iter().flat_map(Node::named);
        return Some(Image::Build {
            context: build.string("context")?,
            dockerfile: build
                .string("dockerfile")
                .unwrap_or_else(|| "Dockerfile".into()),
            args: args
                .map(|(name, value)| Some((name.to_owned(), value.text()?.to_owned())))
                .collect::<Option<BTreeMap<_, _>>>()?,
        });
    }
    Some(pull(&node.string("ref")?, node.string("digest")))
}

/// `name:tag@sha256:…` says with one text what `{ref, digest}` says with two.
fn pull(reference: &str, digest: Option<String>) -> Image {
    let (reference, inline) = match reference.split_once('@') {
        Some((reference, digest)) => (reference, Some(digest.to_owned())),
        None => (reference, None),
    };
    Image::Pull {
        reference: reference.to_owned(),
        digest: digest.or(inline),
    }
}

fn requires(node: &Node) -> Option<Requires> {
    Some(Requires {
        gpus: match node.get("gpus") {
            Some(gpus) => Some(GpuRequest {
                vendor: gpus.word(
                    "vendor",
                    &[("amd", GpuVendor::Amd), ("nvidia", GpuVendor::Nvidia)],
                )?,
                models: gpus.strings("models"),
                count: gpus.number("count")?,
                partition: gpus.string("partition"),
            }),
            None => None,
        },
        rocm: node.string("rocm"),
        disk: node.size("disk", Units::Precise),
        memory: node.size("memory", Units::Precise),
        ports: node
            .strings("ports")
            .iter()
            .filter_map(|port| port.parse().ok())
            .collect(),
    })
}

fn container(node: &Node) -> Option<Container> {
    Some(Container {
        privileged: node.truth("privileged"),
        ipc: node.string("ipc"),
        network: node.string("network"),
        uts: node.string("uts"),
        pid: node.string("pid"),
        devices: node.strings("devices"),
        gpu_access: match node.get("gpu_access") {
            Some(_) => node.word(
                "gpu_access",
                &[
                    ("auto", GpuAccess::Auto),
                    ("as-written", GpuAccess::AsWritten),
                    ("devices", GpuAccess::Devices),
                    ("cdi", GpuAccess::Cdi),
                    ("toolkit", GpuAccess::Toolkit),
                ],
            )?,
            None => GpuAccess::default(),
        },
        cap_add: node.strings("cap_add"),
        security_opt: node.strings("security_opt"),
        group_add: node.strings("group_add"),
        shm_size: node.size("shm_size", Units::Docker),
        ulimits: node
            .get("ulimits")
            .into_iter()
            .flat_map(Node::named)
            .map(|(name, value)| ulimit(name, value))
            .collect::<Option<_>>()?,
        env: node.env(),
        mounts: node.items_of("mounts").map(mount).collect::<Option<_>>()?,
        workdir: node.template("workdir"),
        user: node.string("user"),
        init: node.truth("init"),
        entrypoint: match node.get("entrypoint") {
            Some(_) => node.word(
                "entrypoint",
                &[("image", Entrypoint::Image), ("bypass", Entrypoint::Bypass)],
            )?,
            None => Entrypoint::default(),
        },
        shell: node.shell(),
        further: further(node),
    })
}

fn ulimit(name: &str, node: &Node) -> Option<Ulimit> {
    let (soft, hard) = match node.text() {
        Some(text) => (text.parse().ok()?, text.parse().ok()?),
        None => (node.number("soft")?, node.number("hard")?),
    };
    Some(Ulimit {
        name: name.to_owned(),
        soft,
        hard,
    })
}

fn mount(node: &Node) -> Option<MountRequest> {
    if let Some(text) = node.text() {
        let (source, target, read_only) = super::format::split_mount(text)?;
        return Some(MountRequest {
            source: Template(source.to_owned()),
            target: Template(target.to_owned()),
            read_only,
        });
    }
    Some(MountRequest {
        source: node.template("source")?,
        target: node.template("target")?,
        read_only: node.truth("read_only"),
    })
}

fn judge(node: &Node) -> JudgeRules {
    let usual = JudgeRules::default();
    JudgeRules {
        margin: node.fraction("margin"),
        noise: node.fraction("noise"),
        confidence: node.fraction("confidence").unwrap_or(usual.confidence),
        reimplemented: node.truth("reimplemented"),
    }
}
