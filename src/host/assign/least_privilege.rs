//! `--least-privilege`: a container without the powers of root over the host that a GPU does not
//! need. What it takes away is told, since a script of the image may have used it: AMD's write
//! settings of the kernel and the GPUs' clocks.

use retrial_container::{is_accelerator_device, is_root_capability};
use retrial_recipe::model::{Container, Recipe};

/// A recipe with fewer powers.
#[derive(Debug, Clone)]
pub struct Lessened {
    /// It.
    pub recipe: Recipe,
    /// What it had, each with what it means that it is gone.
    pub took_away: Vec<String>,
}

/// Takes privileged, capabilities as good as root and devices that are no GPU's out of a recipe.
#[must_use]
pub fn lessened(recipe: &Recipe) -> Lessened {
    let mut recipe = recipe.clone();
    let container: &mut Container = &mut recipe.container;
    let mut took_away = Vec::new();
    if std::mem::take(&mut container.privileged) {
        took_away.push(
            "privileged: the host's other devices, and writing settings of the kernel and of the GPUs' clocks"
                .to_owned(),
        );
    }
    container.cap_add.retain(|name| {
        let root = is_root_capability(name);
        if root {
            took_away.push(format!("cap_add {name}: administering the host"));
        }
        !root
    });
    container.devices.retain(|device| {
        let kept = is_accelerator_device(device);
        if !kept {
            took_away.push(format!("device {device}: it belongs to no GPU"));
        }
        kept
    });
    container.security_opt.retain(|option| {
        let opens = option == "systempaths=unconfined";
        if opens {
            took_away.push(format!(
                "security_opt {option}: the kernel's settings in /proc and /sys"
            ));
        }
        !opens
    });
    if container.pid.as_deref() == Some("host") {
        container.pid = None;
        took_away.push("pid host: the host's processes".to_owned());
    }
    Lessened { recipe, took_away }
}
