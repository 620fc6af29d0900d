//! Merging, variants, params and expressions, each on the smallest recipe that shows it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::format_collect, reason = "tests")]

use std::error::Error;

use retrial_recipe::model::{Image, ParamValue, Recipe};
use retrial_recipe::{
    ParamSetting, RecipeFileKind, Source, TemplateSource, check_source, read_variants,
    resolve_recipe,
};

struct InMemory<'a>(&'a [(&'a str, &'a str)]);

impl TemplateSource for InMemory<'_> {
    fn read_template(&self, name: &str) -> Result<Option<Source>, Box<dyn Error>> {
        let template = self.0.iter().find(|(other, _)| *other == name);
        Ok(template.map(|(name, text)| Source::new(*name, *text)))
    }

    fn find_base(&self, name: &str) -> Option<(String, Source)> {
        let named = ["base", "suite/base"].contains(&name);
        named.then(|| ("suite/v1/base".to_owned(), Source::new("base.yaml", BASE)))
    }

    fn template_names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn companion_exists(&self, _relative: &str) -> Option<bool> {
        None
    }
}

/// The keys that every recipe needs, so that each test has only those that it tests.
const REST: &str = "
schema: 1
title: t
submission: { suite: s, benchmark: b }
image: own/image:1
scenarios: { case: { performance: { run: ./x, figures: { speed: { csv: speed } } } } }
";

/// A recipe that others extend.
const BASE: &str = "
schema: 1
title: the base
submission: { suite: s, benchmark: b }
image: base/image:1
scenarios: { case: { performance: { run: ./x, figures: { speed: { csv: speed } } } } }
";

#[test]
fn what_is_changed_of_an_extended_recipe_is_recorded() {
    let source = |text: &str| Source::new("r.yaml", format!("schema: 1\ntitle: t\n{text}"));
    let resolve = |text: &str| {
        let templates = InMemory(&[("above", "schema: 1\ncontainer: { ipc: host }\n")]);
        resolve_recipe("r", &source(text), &templates, &[]).map(|resolved| resolved.recipe)
    };
    let changes = |text: &str| resolve(text).unwrap().base.unwrap().describe_changes();
    assert_eq!(changes("extends: base\n"), None);
    assert_eq!(changes("extends: suite/base\n"), None);
    let two = resolve("extends: [base, suite/base]\n").unwrap_err().to_string();
    assert!(two.contains("a recipe extends one recipe"), "{two}");
    let image = "extends: base\nimage: own/image:2\n";
    assert_eq!(changes(image).as_deref(), Some("extends suite/v1/base, changing image"));
    let above = "extends: [base, above]\n";
    assert_eq!(changes(above).as_deref(), Some("extends suite/v1/base, changing above"));
    assert_eq!(resolve(image).unwrap().title, "t");
}

fn attempt(
    text: &str,
    templates: &[(&str, &str)],
    settings: &[(&str, &str)],
) -> Result<Recipe, String> {
    let keys: Vec<&str> =
        text.lines().filter_map(|line| line.split_once(':').map(|(key, _)| key)).collect();
    let rest: String = REST
        .lines()
        .filter(|line| !keys.iter().any(|key| line.starts_with(&format!("{key}:"))))
        .map(|line| format!("{line}\n"))
        .collect();
    let source = Source::new("r.yaml", format!("{rest}{text}"));
    let settings: Vec<_> =
        settings.iter().map(|(name, value)| ParamSetting::new(*name, *value)).collect();
    let templates = InMemory(templates);
    match resolve_recipe("r", &source, &templates, &settings) {
        Ok(resolved) => {
            let again = Source::new("recipe.yaml", resolved.yaml.clone());
            let again = resolve_recipe("r", &again, &InMemory(&[]), &[])
                .map_err(|problems| problems.to_string())?;
            assert_eq!(again.recipe, resolved.recipe, "{}", resolved.yaml);
            Ok(resolved.recipe)
        }
        Err(problems) => {
            Err(problems.iter().map(|problem| format!("{}\n", problem.message)).collect())
        }
    }
}

fn resolved(text: &str, templates: &[(&str, &str)], settings: &[(&str, &str)]) -> Recipe {
    attempt(text, templates, settings).unwrap_or_else(|problems| panic!("{problems}"))
}

fn env(recipe: &Recipe) -> Vec<(&str, &str)> {
    recipe.container.env.iter().map(|(name, value)| (name.as_str(), value.0.as_str())).collect()
}

#[test]
fn an_image_takes_the_place_of_another_with_its_digest_and_contents() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let text = format!(
        "image: {{ ref: one:1, digest: '{digest}', published: one:1, contains: {{ rocm: 7.2.4, torch: 2.10.0 }} }}
variants:
  by:
    published: {{}}
    other: {{ image: {{ ref: two:2, contains: {{ rocm: 10.1.0 }} }} }}
    built: {{ image: {{ build: {{ context: image }} }} }}
    own: {{ image: three:3 }}
default: {{ by: published }}
"
    );
    let by = |value: &str| resolved(&text, &[], &[("by", value)]);
    let published = by("published");
    assert_eq!(published.image.reference(), Some(format!("one:1@{digest}")));
    assert_eq!((published.published_image, published.image_contents.len()), (None, 2));
    let other = by("other");
    assert_eq!(other.image.reference().as_deref(), Some("two:2"));
    assert_eq!(other.published_image.as_deref(), Some("one:1"));
    assert_eq!(other.image_contents.into_keys().collect::<Vec<_>>(), ["rocm"]);
    let built = by("built");
    assert!(matches!(built.image, Image::Build(_)) && built.image_contents.is_empty());
    assert_eq!(built.published_image.as_deref(), Some("one:1"));
    assert_eq!(by("own").published_image, None);
    let given = resolved(&text, &[], &[("by", "other"), ("image", "four:4")]);
    assert_eq!((given.published_image, given.image_contents.len()), (None, 0));
    assert_eq!(given.replaced["image"], "one:1");
}

#[test]
fn a_null_of_a_variant_removes_what_another_axis_adds() {
    let text = "container: { env: { A: a } }
variants:
  release: { new: { container: { env: { B: b } } } }
  gpu: { one: { container: { env: { B: null } } }, two: {} }
default: { release: new, gpu: one }
";
    assert_eq!(env(&resolved(text, &[], &[])), [("A", "a")]);
    assert_eq!(env(&resolved(text, &[], &[("gpu", "two")])), [("A", "a"), ("B", "b")]);
}

#[test]
fn a_list_of_an_unsupported_combination_is_any_of_its_values() {
    let text = "variants: { gpu: { a: {}, b: {}, c: {} }, rocm: { '6': {}, '7': {} } }
default: { gpu: a, rocm: '7' }
unsupported: [{ gpu: [a, b], rocm: '6', reason: too old }]
";
    for gpu in ["a", "b"] {
        let refused = attempt(text, &[], &[("gpu", gpu), ("rocm", "6")]).unwrap_err();
        assert!(refused.contains("too old"), "{refused}");
    }
    resolved(text, &[], &[("gpu", "c"), ("rocm", "6")]);
}

#[test]
fn later_templates_win_and_the_recipe_wins_over_all() {
    let templates = [
        (
            "one",
            "schema: 1\nextends: base\ncontainer: {env: {A: one, B: one, C: one}, devices+: [/dev/one]}\n",
        ),
        ("two", "schema: 1\ncontainer: {env: {B: two, C: two}, devices+: [/dev/two]}\n"),
        ("base", "schema: 1\ncontainer: {env: {A: base, Z: base}, devices: [/dev/base]}\n"),
    ];
    let recipe = resolved(
        "extends: [one, two]\ncontainer: {env: {C: own}, devices+: [/dev/own]}\n",
        &templates,
        &[],
    );
    assert_eq!(env(&recipe), [("A", "one"), ("Z", "base"), ("B", "two"), ("C", "own")]);
    assert_eq!(recipe.container.devices, ["/dev/base", "/dev/one", "/dev/two", "/dev/own"]);
}

#[test]
fn lists_replace_and_null_removes() {
    let templates =
        [("base", "schema: 1\ncontainer: {devices: [/dev/base], ipc: host, env: {A: a, B: b}}\n")];
    let recipe = resolved(
        "extends: base\ncontainer: {devices: [/dev/own], ipc: null, env: {A: null}}\n",
        &templates,
        &[],
    );
    assert_eq!(recipe.container.devices, ["/dev/own"]);
    assert_eq!(recipe.container.ipc, None);
    assert_eq!(env(&recipe), [("B", "b")]);
    let recipe = resolved("extends: base\ncontainer: null\n", &templates, &[]);
    assert_eq!(recipe.container.devices.len(), 0);
}

#[test]
fn removed_keys_can_be_set_again() {
    let templates = [
        ("base", "schema: 1\ncontainer: {devices: [/dev/base]}\n"),
        ("less", "schema: 1\nextends: base\ncontainer: {devices: null}\n"),
    ];
    let recipe = resolved("extends: less\ncontainer: {devices+: [/dev/own]}\n", &templates, &[]);
    assert_eq!(recipe.container.devices, ["/dev/own"]);
}

#[test]
fn a_command_can_replace_a_shared_one() {
    let templates = [(
        "base",
        "schema: 1\ncommands: {all: {run: ./all}}\nscenarios: {case: {performance: {from: all, figures: {speed: {csv: speed}}}}}\n",
    )];
    let both = "extends: base\nscenarios: {case: {performance: {run: ./own}}}\n";
    assert!(attempt(both, &templates, &[]).unwrap_err().contains("has both `run` and `from`"));
    resolved(
        "extends: base\nscenarios: {case: {performance: {run: ./own, from: null}}}\n",
        &templates,
        &[],
    );
}

#[test]
fn anchors_and_merge_keys_are_expanded() {
    let text = "container: {env: &env {A: a, B: b}}\nsetup: {one: {run: ./one, env: {B: own, <<: *env}}, two: {run: ./two, env: *env}}\n";
    let recipe = resolved(text, &[], &[]);
    let texts = |index: usize| -> Vec<String> {
        recipe.setup[index]
            .1
            .options
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    };
    assert_eq!(texts(0), ["B=own", "A=a"]);
    assert_eq!(texts(1), ["A=a", "B=b"]);
}

const VARIANTS: &str = "
variants:
  rocm: { \"6.4.1\": { image: own/image:641 }, \"7.1.1\": { image: own/image:711, container: { devices+: [/dev/rocm] } } }
  gpu: { mi300x: { container: { devices+: [/dev/gpu] } }, mi355x: {} }
default: { rocm: \"7.1.1\" }
unsupported: [{ rocm: \"6.4.1\", gpu: mi355x, reason: it came later }]
";

#[test]
fn variants_are_merged_in_axis_order() {
    let recipe = resolved(VARIANTS, &[], &[("gpu", "mi300x")]);
    assert_eq!(recipe.container.devices, ["/dev/rocm", "/dev/gpu"]);
    assert!(matches!(&recipe.image, Image::Pull { reference, .. } if reference == "own/image:711"));
    assert_eq!(recipe.variant["gpu"], "mi300x");
    assert!(recipe.modified.is_empty());
    assert_eq!(attempt(VARIANTS, &[], &[]).unwrap_err(), "`gpu` must be set: it has no default\n");
    let unsupported = attempt(VARIANTS, &[], &[("gpu", "mi355x"), ("rocm", "6.4.1")]).unwrap_err();
    assert_eq!(unsupported, "gpu=mi355x with rocm=6.4.1 is not supported: it came later\n");
}

#[test]
fn choices_exclude_unsupported_combinations() {
    let source = Source::new("r.yaml", format!("{REST}{VARIANTS}"));
    let variants = read_variants(&source, &InMemory(&[])).unwrap();
    let choices: Vec<String> = variants
        .supported_choices()
        .iter()
        .map(|choice| format!("{} {}", choice["rocm"], choice["gpu"]))
        .collect();
    assert_eq!(choices, ["6.4.1 mi300x", "7.1.1 mi300x", "7.1.1 mi355x"]);
}

#[test]
fn template_overlays_merge_with_recipe_overlays() {
    let templates = [(
        "base",
        "schema: 1\nvariants: {rocm: {a: {container: {devices+: [/dev/base], env: {A: a}}}}}\ndefault: {rocm: a}\n",
    )];
    let text = "extends: base\ncontainer: {devices: [/dev/own]}\nvariants: {rocm: {a: {container: {devices+: [/dev/more]}}, b: {}}}\n";
    let recipe = resolved(text, &templates, &[]);
    assert_eq!(recipe.container.devices, ["/dev/own", "/dev/base", "/dev/more"]);
    assert_eq!(env(&recipe), [("A", "a")]);
    assert_eq!(resolved(text, &templates, &[("rocm", "b")]).container.devices, ["/dev/own"]);
}

#[test]
fn a_scalar_expression_has_the_type_of_the_param() {
    let text = |kind: &str, default: &str| {
        format!(
            "params: {{n: {{type: {kind}, default: {default}}}}}\nrequires: {{gpus: {{vendor: amd, count: \"${{{{ params.n }}}}\"}}, disk: \"${{{{ params.n }}}} GiB\"}}\n"
        )
    };
    let recipe = resolved(&text("int", "4"), &[], &[]);
    assert_eq!(recipe.requires.gpus.unwrap().count, 4);
    assert_eq!(recipe.requires.disk, Some(4 << 30));
    assert_eq!(resolved(&text("int", "4"), &[], &[("n", "8")]).modified, ["n"]);
    let problems = attempt(&text("string", "4"), &[], &[]).unwrap_err();
    assert_eq!(problems, "expected an integer, found text `4`, from ${{ params.n }}\n");
    let problems = attempt(&text("int", "4"), &[], &[("n", "0")]).unwrap_err();
    assert_eq!(problems, "0 is out of range\n");
}

#[test]
fn defaults_can_refer_to_other_params() {
    let text = "params:\n  root: {type: path, default: /r}\n  out: {type: path, default: \"${{ params.root }}/out\"}\ncontainer: {workdir: \"${{ params.out }}\"}\n";
    let recipe = resolved(text, &[], &[("root", "/other")]);
    assert_eq!(recipe.params["out"], ParamValue::Text("/other/out".into()));
    assert_eq!(recipe.modified, ["root"]);
    // What is known is checked where it ends up.
    let problems =
        attempt(&text.replace("type: path", "type: string"), &[], &[("root", "x")]).unwrap_err();
    assert_eq!(problems, "a path in the container must be absolute\n");
}

#[test]
fn a_param_without_default_must_be_set() {
    let text = "params: {model: {type: path, help: where it lies}, kind: {type: enum, values: [a, b], default: a}, fast: {type: bool, default: false}}\ncontainer: {mounts: [\"${{ params.model }}:/m:ro\"], privileged: \"${{ params.fast }}\", env: {K: \"${{ params.kind }}\"}}\n";
    assert_eq!(attempt(text, &[], &[]).unwrap_err(), "the param `model` has no value\n");
    let recipe = resolved(text, &[], &[("model", "/data: x"), ("fast", "true"), ("kind", "b")]);
    assert_eq!(recipe.container.mounts[0].source.0, "${{ params.model }}");
    assert!(recipe.container.mounts[0].read_only);
    assert!(recipe.container.privileged);
    assert_eq!(recipe.modified, ["fast", "kind"]);
    let problems =
        attempt(text, &[], &[("model", "/m"), ("fast", "yes"), ("kind", "c")]).unwrap_err();
    assert_eq!(problems, "this param is a bool; `yes` is text\n`c` is not a value of this enum\n");
    let source = Source::new("r.yaml", format!("{REST}{text}"));
    assert_eq!(check_source(&source, RecipeFileKind::Recipe, &InMemory(&[])).to_string(), "");
}

#[test]
fn names_used_before_they_are_known_are_refused() {
    let text = "requires: {gpus: {vendor: amd, count: 8}}\nimage: \"${{ scenario }}\"\ncontainer: {env: {N: \"${{ gpus.count }}\", T: \"${{ trial }}\"}, user: \"${{ gpus.count }}\"}\n";
    let problems = attempt(text, &[], &[]).unwrap_err();
    assert_eq!(
        problems,
        "`scenario` is not known here\n`trial` is not known here\n`gpus.count` is not known here\n"
    );
}

#[test]
fn any_image_can_replace_the_recipes() {
    let recipe = resolved("", &[], &[("image", "other/image:2")]);
    assert_eq!(recipe.image.to_string(), "other/image:2");
    assert_eq!(recipe.modified, ["image"]);
    assert_eq!(recipe.replaced["image"], "own/image:1");
    // The recipe's own name, pinned, is no other image.
    let digest = format!("own/image:1@sha256:{}", "a".repeat(64));
    let pinned = resolved("", &[], &[("image", &digest)]);
    assert_eq!(pinned.image.to_string(), digest);
    assert_eq!((pinned.modified.len(), &*pinned.given_params), (0, &["image".to_owned()][..]));
    let missing = "image: null\n";
    assert_eq!(resolved(missing, &[], &[("image", "a:1")]).image.to_string(), "a:1");
    for (image, message) in
        [("Not An Image", "image"), ("${{ params.x }}", "a value of --image is taken as it is")]
    {
        let problems = attempt("", &[], &[("image", image)]).unwrap_err();
        assert!(problems.contains(message), "{problems}");
    }
    let twice = attempt("", &[], &[("image", "a:1"), ("image", "a:2")]).unwrap_err();
    assert!(twice.contains("--image is given more than once"), "{twice}");
}

#[test]
fn an_image_replaces_that_of_a_variant() {
    let variants = "variants: { rocm: { old: {}, new: { image: own/image:2 } } }\n\
                    default: { rocm: old }\n";
    let recipe = resolved(variants, &[], &[("rocm", "new"), ("image", "a:1")]);
    assert_eq!(
        (recipe.image.to_string().as_str(), &*recipe.replaced["image"]),
        ("a:1", "own/image:2")
    );
}

#[test]
fn a_recipe_that_declares_image_decides_what_it_means() {
    let text =
        "params: { image: { type: string, default: own/image:1 } }\nimage: ${{ params.image }}\n";
    let recipe = resolved(text, &[], &[("image", "a:1")]);
    assert_eq!((recipe.image.to_string().as_str(), recipe.replaced.len()), ("a:1", 0));
    assert_eq!(recipe.modified, ["image"]);
}

#[test]
fn the_image_of_a_service_can_be_replaced() {
    let services = "
services:
  server: { run: serve, ready: { port: 80 }, container: { image: serve:1 } }
  proxy: { run: proxy, ready: { port: 81 }, container: {} }
scenarios: { case: { performance: { run: ./x, needs: [server, proxy], figures: { speed: { csv: speed } } } } }
";
    let recipe = resolved(services, &[], &[("image.server", "serve:2")]);
    let (_, server) = &recipe.services[0];
    let image = server.own_container.as_ref().unwrap().image.as_ref().unwrap();
    assert_eq!(
        (image.to_string().as_str(), &*recipe.replaced["image.server"]),
        ("serve:2", "serve:1")
    );
    let other = attempt(services, &[], &[("image.sever", "serve:2")]).unwrap_err();
    assert!(other.contains("no such service: `sever`"), "{other}");
    let shared = attempt(services, &[], &[("image.proxy", "serve:2")]).unwrap_err();
    assert!(shared.contains("`proxy` has no image of its own"), "{shared}");
}

#[test]
fn arguments_of_a_build_can_be_set() {
    let build = "image: { build: { context: image, args: { BASE: rocm/dev:7.2 } } }\n";
    let recipe = resolved(build, &[], &[("build_arg.BASE", "rocm/dev:10.1"), ("build_arg.X", "1")]);
    assert_eq!(recipe.image.to_string(), "image/Dockerfile (BASE=rocm/dev:10.1, X=1)");
    assert_eq!(recipe.replaced["build_arg.BASE"], "rocm/dev:7.2");
    assert_eq!(recipe.replaced["build_arg.X"], "the Dockerfile's default");
    let replaced = resolved(build, &[], &[("image", "a:1")]);
    assert_eq!(replaced.image.to_string(), "a:1");
    assert_eq!(replaced.replaced["image"], "image/Dockerfile (BASE=rocm/dev:7.2)");
    let both = attempt(build, &[], &[("build_arg.BASE", "b"), ("image", "a:1")]).unwrap_err();
    assert!(both.contains("a build argument without a build"), "{both}");
    let pulled = attempt("", &[], &[("build_arg.BASE", "b")]).unwrap_err();
    assert!(pulled.contains("does not build its image"), "{pulled}");
}
