use std::path::{Path, PathBuf};

use crate::access::PathFacts;
use crate::build::{PlanError, RecipeOrigin, build_plan};
use crate::options::PlanOptions;
use crate::step::Action;
use crate::step::Plan;
use retrial_host::model::HostView;

const HEAD: &str = "schema: 1\ntitle: t\nsubmission: { suite: own, benchmark: b, sources: [x] }\n";
const REST: &str = "scenarios: { s: { performance: { run: \"echo $HF_TOKEN\", figures: { speed: { pattern: \"([0-9]+)\" } } } } }\n";

fn plan(keys: &str, rest: &str) -> Plan {
    try_plan(keys, rest).unwrap()
}

fn try_plan(keys: &str, rest: &str) -> Result<Plan, PlanError> {
    let source = retrial_recipe::Source::new("r.yaml", format!("{HEAD}{keys}{rest}"));
    let resolved = retrial_recipe::resolve_recipe("r", &source, &retrial_recipe::NoTemplates, &[]);
    let origin = RecipeOrigin { directory: Some("/recipe".to_owned()), ..RecipeOrigin::default() };
    let (options, host) = (PlanOptions::default(), HostView::default());
    build_plan(&resolved.unwrap().recipe, &origin, &options, &host)
}

fn names(plan: &Plan) -> Vec<String> {
    let privileges = plan.privileges.iter();
    let names = privileges.map(|one| format!("{} {}", one.name, one.setting));
    names.collect()
}

/// A recipe with a step of every kind.
const EVERY_ACTION: &str = r#"image: { build: { context: ./ctx } }
container: { mounts: ["./main:/main", "/srv/main:/srv"] }
secrets: [HF_TOKEN]
copy_from_image: [{ path: /etc/issue, to: issue }]
models: { m: { source: { hub: a/b, revision: "0123456789012345678901234567890123456789" }, mount: /m, download: { size: 1M } } }
datasets:
  kept: { run: "echo $HF_TOKEN >/kept/x", cache: { path: /kept, key: kept } }
setup:
  here: { on: host, run: "$RETRIAL_RECIPE_DIR/x.sh" }
  populated: { on: host, run: "touch $RETRIAL_CACHE_PATH/x", cache: { path: /host, key: host } }
  inside: { run: "true" }
services:
  server:
    run: serve
    ready: { port: 80 }
    container: { image: other:1, ipc: "container:else", mounts: ["./scripts:/scripts:ro", "/var/run/docker.sock:/s"] }
"#;

#[test]
fn every_kind_of_step_is_in_the_list() {
    let rest = "scenarios: { s: { performance: { needs: [server], results: /results, run: \"echo $HF_TOKEN\", figures: { speed: { pattern: \"([0-9]+)\" } } } } }\n";
    let plan = plan(EVERY_ACTION, rest);
    let mut missing = vec![
        "pull",
        "build",
        "fetch_model",
        "copy_out",
        "populate",
        "create",
        "exec",
        "host",
        "start_service",
        "stop_service",
        "collect",
        "judge",
        "remove",
    ];
    for step in &plan.steps {
        // A new kind of step does not compile until it is here, and in the recipe above.
        let kind = match step.action {
            Action::Pull { .. } => "pull",
            Action::Build(_) => "build",
            Action::FetchModel(_) => "fetch_model",
            Action::CopyOut { .. } => "copy_out",
            Action::Populate(_) => "populate",
            Action::Create => "create",
            Action::Exec(_) => "exec",
            Action::Host(_) => "host",
            Action::StartService(_) => "start_service",
            Action::StopService(_) => "stop_service",
            Action::Collect { .. } => "collect",
            Action::Judge => "judge",
            Action::Remove => "remove",
        };
        missing.retain(|name| *name != kind);
    }
    assert_eq!(missing, [""; 0], "no such step in the recipe");
    assert_eq!(
        names(&plan),
        [
            "mounts mount /srv/main",
            "secrets secret HF_TOKEN",
            "host step here",
            "host step populated",
            "namespaces services.server.container.ipc container:else",
            "engine-socket mount /var/run/docker.sock",
        ]
    );
    let own = ["ctx", "main", "scripts", "x.sh"].map(PathBuf::from);
    assert_eq!(plan.companion_names(), own);
}

#[test]
fn namespaces_capabilities_and_options_beyond_a_container_need_approval() {
    let needs = |flags: &str| {
        names(&plan(
            &format!(
                "image: a:1\nparams: {{ at: {{ type: path, default: /var/run/nvidia-container-devices }} }}\ncontainer: {{ {flags} }}\n"
            ),
            REST,
        ))
    };
    for (flags, expected) in [
        ("network: 'container:db'", "namespaces container.network container:db"),
        ("network: theirs", "namespaces container.network theirs"),
        ("ipc: 'container:db'", "namespaces container.ipc container:db"),
        ("userns: host", "namespaces container.userns host"),
        ("cgroupns: host", "namespaces container.cgroupns host"),
        ("runtime: kata", "security-options container.runtime kata"),
        ("env: { NVIDIA_IMEX_CHANNELS: 0 }", "dev-mem container.env NVIDIA_IMEX_CHANNELS=0"),
        (
            "runtime: nvidia, env: { NVIDIA_VISIBLE_DEVICES: management.nvidia.com/gpu=all }",
            "dev-mem container.env NVIDIA_VISIBLE_DEVICES=management.nvidia.com/gpu=all",
        ),
        (
            "mounts: ['./null:${{ params.at }}/all']",
            "dev-mem container.mounts /recipe/null:/var/run/nvidia-container-devices/all",
        ),
        ("pid: host", "host-pid container.pid host"),
        ("cap_add: [SYS_TIME], network: host", "capabilities container.cap_add SYS_TIME"),
        ("cap_add: [CAP_NET_ADMIN]", "capabilities container.cap_add CAP_NET_ADMIN"),
        ("cap_add: [SYS_BOOT]", "capabilities container.cap_add SYS_BOOT"),
        ("cap_add: [SYSLOG]", "capabilities container.cap_add SYSLOG"),
        ("cap_add: [PERFMON]", "capabilities container.cap_add PERFMON"),
        ("cap_add: [ALL]", "sys-admin container.cap_add ALL"),
        (
            "security_opt: [writable-cgroups=true]",
            "security-options container.security_opt writable-cgroups=true",
        ),
        ("security_opt: [apparmor=own]", "security-options container.security_opt apparmor=own"),
        (
            "security_opt: [systempaths=unconfined]",
            "sys-admin container.security_opt systempaths=unconfined",
        ),
    ] {
        assert_eq!(needs(flags), [expected], "{flags}");
    }
    let usual = "cgroupns: private, runtime: nvidia, ipc: host, network: host, uts: host, cap_add: [SYS_PTRACE, CHOWN], security_opt: [seccomp=unconfined, no-new-privileges], devices: [/dev/kfd]";
    assert_eq!(needs(usual), [""; 0]);
}

#[test]
fn a_secret_needs_approval_only_where_a_command_gets_it() {
    let named = plan("image: a:1\nsecrets: [HF_TOKEN]\n", REST);
    assert_eq!(names(&named), ["secrets secret HF_TOKEN"]);
    let unused = REST.replace("echo $HF_TOKEN", "true");
    assert_eq!(names(&plan("image: a:1\nsecrets: [HF_TOKEN]\n", &unused)), [""; 0]);
}

#[test]
fn a_link_out_of_the_recipes_directory_needs_approval() {
    let mut plan =
        plan("image: a:1\ncontainer: { mounts: ['./data:/data', './own:/own'] }\n", REST);
    assert_eq!(names(&plan), [""; 0]);
    let leads_to = |to: &'static str| {
        move |path: &str| PathFacts {
            leads_to: (path == "/recipe/data").then(|| to.to_owned()),
            ..PathFacts::default()
        }
    };
    plan.record_paths(leads_to("/"));
    assert_eq!(
        plan.privileges[0].to_string(),
        "mount /recipe/data: a link to /, outside the recipe's directory, writable"
    );
    assert_eq!(plan.privileges.len(), 1);
    let mut elsewhere = plan.clone();
    elsewhere.record_paths(leads_to("/etc"));
    assert!(elsewhere.unapproved_privilege(&plan).is_some(), "another target was approved");
    assert_eq!(plan.unapproved_privilege(&plan.clone()), None);
    assert_eq!(plan.companion_names(), [PathBuf::from("own")], "one that leads out is not copied");
}

#[test]
fn the_recipes_directory_itself_needs_approval() {
    for source in ["./", "./."] {
        let mounts = format!("image: a:1\ncontainer: {{ mounts: ['{source}:/own:ro'] }}\n");
        let plan = plan(&mounts, REST);
        assert_eq!(plan.privileges.len(), 1, "{source}");
        assert_eq!(plan.privileges[0].name, "mounts");
        assert!(plan.companion_names().is_empty());
    }
    let build = plan("image: { build: { context: . } }\n", REST);
    assert_eq!(names(&build), ["mounts build context /recipe"]);
}

#[test]
fn an_absolute_path_next_to_the_recipe_is_a_path_of_the_host() {
    let mounts = "image: a:1\ncontainer: { mounts: ['/recipe/data:/data', './own:/own'] }\n";
    let plan = plan(mounts, REST);
    assert_eq!(names(&plan), ["mounts mount /recipe/data"]);
    assert_eq!(plan.companion_names(), [PathBuf::from("own")]);
}

#[test]
fn where_a_path_leads_is_a_part_of_what_is_approved() {
    let mut plan = plan(
        "image: a:1\ncontainer: { mounts: ['/recipe/data:/data:ro', './:/own:ro', '/srv:/srv:ro'] }\n",
        REST,
    );
    let mut seen = Vec::new();
    for target in ["/secret", "/other"] {
        plan.record_paths(|_| PathFacts {
            leads_to: Some(target.to_owned()),
            ..PathFacts::default()
        });
        let effects: Vec<&str> = plan.privileges.iter().map(|one| one.effect.as_str()).collect();
        assert!(
            effects.len() == 3 && effects.iter().all(|effect| effect.ends_with(target)),
            "{effects:?}"
        );
        seen.push(plan.privileges.clone());
    }
    assert_ne!(seen[0], seen[1]);
}

#[test]
fn a_socket_is_the_engines_under_any_name() {
    let mut plan = plan("image: a:1\ncontainer: { mounts: ['/srv/e:/e'] }\n", REST);
    assert_eq!(names(&plan), ["mounts mount /srv/e"]);
    plan.record_paths(|_| PathFacts { is_socket: true, ..PathFacts::default() });
    assert_eq!(names(&plan), ["engine-socket mount /srv/e"]);
}

/// It is no copy: all that holds of a path of the host holds of it.
#[test]
fn a_link_next_to_the_recipe_is_a_path_of_the_host() {
    for (name, privilege) in [("data", "mounts"), ("docker.sock", "engine-socket")] {
        let mut plan =
            plan(&format!("image: a:1\ncontainer: {{ mounts: ['./{name}:/x'] }}\n"), REST);
        plan.record_paths(|_| PathFacts {
            leads_to: Some("/srv".to_owned()),
            reason: Some("other users can write it".to_owned()),
            ..PathFacts::default()
        });
        let one = &plan.privileges[0];
        assert_eq!(one.name, privilege);
        assert!(one.each_time, "{one}");
        for part in ["a link to /srv", ", writable", "other users can write it"] {
            assert!(one.effect.contains(part), "{part}: {one}");
        }
    }
}

#[test]
fn what_is_mounted_below_a_read_only_path_may_be_written() {
    let mut plan =
        plan("image: a:1\ncontainer: { mounts: ['/srv:/srv:ro', '/data:/data:ro'] }\n", REST);
    plan.record_paths(|path| PathFacts {
        mounted_below: (path == "/srv").then(|| "/srv/fs".to_owned()).into_iter().collect(),
        ..PathFacts::default()
    });
    let effects: Vec<&str> = plan.privileges.iter().map(|one| one.effect.as_str()).collect();
    assert_eq!(
        effects,
        [
            "outside the recipe's directory, writable in file systems below it: /srv/fs",
            "outside the recipe's directory"
        ]
    );
    assert_eq!(plan.writable_host_paths().collect::<Vec<_>>(), ["/srv/fs"]);
    let home = [PathBuf::from("/srv/fs/home")];
    assert!(plan.find_exposed_path(&home, is_within).is_some());
    assert_eq!(plan.find_exposed_path(&[PathBuf::from("/srv/home")], is_within), None);
}

/// A question that did not say `writable` approves nothing that is.
#[test]
fn a_machine_with_a_file_system_below_a_read_only_mount_is_refused() {
    let keys = "image: a:1\ncontainer: { mounts: ['/srv:/srv:ro'] }\n";
    let mounted = |points: &[&str]| {
        let mut plan = plan(keys, REST);
        plan.record_paths(|_| PathFacts {
            mounted_below: points.iter().map(|&point| point.to_owned()).collect(),
            ..PathFacts::default()
        });
        plan
    };
    let refused = mounted(&["/srv/fs"]).unapproved_privilege(&mounted(&[])).unwrap();
    assert!(refused.effect.contains("writable in file systems below it: /srv/fs"), "{refused}");
    assert_eq!(mounted(&[]).unapproved_privilege(&mounted(&["/srv/fs"])), None);
    assert_eq!(mounted(&["/srv/other"]).unapproved_privilege(&mounted(&["/srv/fs"])), None);
}

#[test]
fn a_mount_of_proc_says_what_it_gives() {
    let plan =
        plan("image: a:1\ncontainer: { mounts: ['/proc/1:/p:ro', '/processed:/x:ro'] }\n", REST);
    let says = |index: usize| plan.privileges[index].effect.contains("with SYS_PTRACE their files");
    assert!(says(0) && !says(1));
}

/// It has the host's /dev/shm, without a mount.
#[test]
fn a_container_with_the_hosts_shared_memory_writes_there() {
    let exposed = |keys: &str| {
        let keys = format!("image: a:1\ncontainer: {{ mounts: ['/dev/shm/x:/x:ro'], {keys} }}\n");
        plan(&keys, REST).find_exposed_path(&[], is_within)
    };
    assert_eq!(exposed("ipc: private"), None);
    let expected = ("/dev/shm/x".to_owned(), "/dev/shm".to_owned());
    assert_eq!(exposed("ipc: host"), Some(expected));
    let home = [PathBuf::from("/dev/shm/home")];
    let plan = plan("image: a:1\ncontainer: { ipc: host }\n", REST);
    assert!(plan.find_exposed_path(&home, is_within).is_some());
}

/// What an expression means may be any directory below.
#[test]
fn no_container_writes_where_a_path_is_known_later() {
    let exposed = |mounts: &str| {
        let model = "models: { m: { source: { hub: a/b, revision: main }, mount: /m } }";
        let plan =
            plan(&format!("image: a:1\n{model}\ncontainer: {{ mounts: [{mounts}] }}\n"), REST);
        plan.find_exposed_path(&[], is_within).is_some()
    };
    let late = "'/data/${{ models.m.commit }}/sub:/x:ro'";
    assert!(!exposed(late));
    for writable in ["'/data:/w'", "'/data/one:/w'"] {
        assert!(exposed(&format!("{late}, {writable}")), "{writable}");
    }
    assert!(!exposed(&format!("{late}, '/data:/w:ro', '/other:/o'")));
    assert!(!exposed(
        "'/data/${{ models.m.commit }}/in:/x:ro', '/data/${{ models.m.commit }}/out:/y'"
    ));
}

/// Nothing of the recipe's directory is mounted as it is, whatever an expression says later.
#[test]
fn a_companion_begins_with_a_directory_that_is_known() {
    let mounts = |source: &str| {
        let model = "models: { m: { source: { hub: a/b, revision: main }, mount: /m } }";
        try_plan(
            &format!("image: a:1\n{model}\ncontainer: {{ mounts: [\"{source}:/x\"] }}\n"),
            REST,
        )
    };
    for source in
        ["./${{ models.m.commit }}", ".//${{ models.m.commit }}", "./${{ models.m.commit }}/sub"]
    {
        let refused = mounts(source);
        assert!(
            matches!(refused, Err(PlanError::UnknownCompanion { .. })),
            "{source}: {refused:?}"
        );
    }
    let plan = mounts("./data/${{ models.m.commit }}").unwrap();
    assert_eq!(plan.companion_names(), [PathBuf::from("data")]);
}

#[test]
fn a_path_is_named_in_one_way() {
    for keys in [
        "image: a:1\ncontainer: { mounts: ['/recipe/data:/data', './data:/own'] }\n",
        "image: a:1\ncontainer: { mounts: ['/recipe//data/:/data', './data/.:/own'] }\n",
        "image: { build: { context: ./data } }\ncontainer: { mounts: ['/recipe/data:/data'] }\n",
        "image: a:1\ncontainer: { mounts: ['/recipe/x.sh:/data'] }\nsetup: { own: { on: host, run: '\"$RETRIAL_RECIPE_DIR/x.sh\"' } }\n",
    ] {
        let refused = try_plan(keys, REST);
        assert!(matches!(refused, Err(PlanError::NamedTwice { .. })), "{keys}: {refused:?}");
    }
}

#[test]
fn a_companion_with_a_reason_needs_approval_and_is_copied() {
    let mut plan = plan("image: a:1\ncontainer: { mounts: ['./own:/own'] }\n", REST);
    plan.record_paths(|_| PathFacts { reason: Some("in /tmp".to_owned()), ..PathFacts::default() });
    assert_eq!(plan.privileges[0].to_string(), "mount /recipe/own: in /tmp");
    assert_eq!(plan.copied_companion("/recipe/own"), Some(Path::new("own")));
}

#[test]
fn only_a_step_that_runs_a_file_of_the_recipe_is_remembered() {
    for (run, each_time) in [
        ("\"$RETRIAL_RECIPE_DIR/x.sh\" --fast", false),
        ("sh \"$RETRIAL_RECIPE_DIR/x.sh\"", true),
        // A blank in the directory's name would make another program of it.
        ("$RETRIAL_RECIPE_DIR/x.sh", true),
        ("\"$RETRIAL_RECIPE_DIR/x.sh\" $RETRIAL_RECIPE_DIR/y", true),
    ] {
        let keys = format!("image: a:1\nsetup: {{ own: {{ on: host, run: '{run}' }} }}\n");
        assert_eq!(plan(&keys, REST).privileges[0].each_time, each_time, "{run}");
    }
}

fn is_within(path: &Path, directory: &Path) -> bool {
    path.starts_with(directory)
}
