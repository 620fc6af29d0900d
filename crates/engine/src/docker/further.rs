//! The container's rarer settings as the command line would send them.

use bollard::models::{HostConfig, HostConfigCgroupnsModeEnum};

use super::create::capabilities;
use retrial_container::ExtraFlags;

/// Puts them into the request.
pub(super) fn set(further: &ExtraFlags, config: &mut HostConfig) {
    let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
    config.cap_drop = some(&capabilities(&further.cap_drop));
    config.runtime.clone_from(&further.runtime);
    config.memory = further
        .memory
        .map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    config.nano_cpus = further.cpus.as_deref().and_then(nano);
    config.cpuset_cpus.clone_from(&further.cpuset_cpus);
    config.cpuset_mems.clone_from(&further.cpuset_mems);
    if further.pids_limit.is_some() {
        config.pids_limit = further.pids_limit;
    }
    if !further.sysctls.is_empty() {
        config.sysctls = Some(further.sysctls.iter().cloned().collect());
    }
    if !further.tmpfs.is_empty() {
        let parts = further.tmpfs.iter().map(|text| {
            let (path, options) = text.split_once(':').unwrap_or((text, ""));
            (path.to_owned(), options.to_owned())
        });
        config.tmpfs = Some(parts.collect());
    }
    if further.read_only {
        config.readonly_rootfs = Some(true);
    }
    config.dns = Some(further.dns.clone());
    config.extra_hosts = some(&further.add_host);
    config.cgroupns_mode = match further.cgroupns.as_deref() {
        Some("host") => Some(HostConfigCgroupnsModeEnum::HOST),
        Some("private") => Some(HostConfigCgroupnsModeEnum::PRIVATE),
        _ => None,
    };
    config.userns_mode.clone_from(&further.userns);
}

/// A decimal number of CPUs in billionths, without the rounding of a float.
fn nano(cpus: &str) -> Option<i64> {
    let (whole, part) = cpus.split_once('.').unwrap_or((cpus, ""));
    let part = part.get(..9).unwrap_or(part);
    let billionths: i64 = format!("{part:0<9}").parse().ok()?;
    let whole: i64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    whole.checked_mul(1_000_000_000)?.checked_add(billionths)
}

#[cfg(test)]
mod tests {
    use super::nano;

    #[test]
    fn parts_of_a_cpu() {
        assert_eq!(nano("1.5"), Some(1_500_000_000));
        assert_eq!(nano("16"), Some(16_000_000_000));
        assert_eq!(nano(".1"), Some(100_000_000));
    }
}
