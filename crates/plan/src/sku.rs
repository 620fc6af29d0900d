//! Compares a host with the SKU that the name of a published system states.

use retrial_host::assign::count_cards;
use retrial_host::model::HostView;

/// Whether the host matches the system's name, `8xMI355X_2xEPYC_9575F`: the same number of GPUs of this model
/// and no others, and the same number of processors of this model.
///
/// A name with another part (a server's model, a code name) cannot be verified: `false`.
pub fn is_same_sku(system: &str, host: &HostView) -> bool {
    let Some(named) = SystemName::parse(system) else {
        return false;
    };
    let mut gpus = host.gpus.iter();
    let same_gpus = gpus.all(|gpu| gpu.model.eq_ignore_ascii_case(named.gpu) && !gpu.masked)
        && count_cards(&host.gpus) == named.gpus;
    same_gpus && named.matches_processor(host)
}

#[derive(Debug, PartialEq, Eq)]
struct SystemName<'a> {
    gpus: usize,
    gpu: &'a str,
    sockets: u32,
    processor: &'a str,
}

impl<'a> SystemName<'a> {
    /// `8xMI325X_2xEPYC_9575F_1`, `8xMI300X_2xEPYC-9374F`: the number at the end distinguishes two submissions
    /// of one system.
    fn parse(system: &'a str) -> Option<Self> {
        let mut parts = system.split(['_', '-']);
        let (gpus, gpu) = parse_counted_model(parts.next()?)?;
        let (sockets, family) = parse_counted_model(parts.next()?)?;
        if !gpu.to_ascii_uppercase().starts_with("MI") || !family.eq_ignore_ascii_case("EPYC") {
            return None;
        }
        // `9575F`; `TURIN` is a whole generation.
        let is_model = |text: &&str| text.starts_with(|first: char| first.is_ascii_digit());
        let processor = parts.next().filter(is_model)?;
        match (parts.next(), parts.next()) {
            (None, _) => {}
            (Some(index), None) if index.bytes().all(|byte| byte.is_ascii_digit()) => {}
            _ => return None,
        }
        Some(Self { gpus, gpu, sockets: u32::try_from(sockets).ok()?, processor })
    }

    /// The host's processor names its model and cores: `AMD EPYC 9575F 64-Core Processor`. The host's CPU count
    /// is the cores of all sockets, or twice that with SMT.
    fn matches_processor(&self, host: &HostView) -> bool {
        let mut words = host.cpu.split_whitespace();
        let same = words.any(|word| word.eq_ignore_ascii_case(self.processor));
        let mut words = host.cpu.split_whitespace();
        let cores = words.find_map(|word| word.strip_suffix("-Core")?.parse::<u32>().ok());
        let expected = cores.and_then(|cores| cores.checked_mul(self.sockets));
        same && expected.is_some_and(|cores| host.cpus == cores || host.cpus == cores * 2)
    }
}

/// Splits `8xMI355X` into count and model.
fn parse_counted_model(part: &str) -> Option<(usize, &str)> {
    let (count, model) = part.split_once('x')?;
    Some((count.parse().ok()?, model)).filter(|_| !model.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use retrial_host::model::Gpu;

    fn host_with(gpus: usize, model: &str, cpu: &str, cpus: u32) -> HostView {
        let gpu = |index: usize| Gpu::with_model(model, &format!("0000:{index:02x}:00.0"));
        HostView {
            cpu: cpu.to_owned(),
            cpus,
            gpus: (0..gpus).map(gpu).collect(),
            ..HostView::default()
        }
    }

    const CPU: &str = "AMD EPYC 9575F 64-Core Processor";

    #[rstest]
    #[case("8xMI355X_2xEPYC_9575F", host_with(8, "MI355X", CPU, 256), true)]
    #[case("8xMI355X_2xEPYC_9575F", host_with(8, "MI355X", CPU, 128), true)]
    #[case("8xMI325x_2xEPYC-9575F", host_with(8, "MI325X", CPU, 256), true)]
    #[case("8xMI325X_2xEPYC_9575F_1", host_with(8, "MI325X", CPU, 256), true)]
    // Fewer GPUs, other GPUs, fewer sockets, another processor, an unknown one.
    #[case("8xMI355X_2xEPYC_9575F", host_with(4, "MI355X", CPU, 256), false)]
    #[case("8xMI355X_2xEPYC_9575F", host_with(8, "MI350X", CPU, 256), false)]
    #[case("8xMI355X_2xEPYC_9575F", host_with(8, "MI355X", CPU, 64), false)]
    #[case(
        "8xMI355X_2xEPYC_9575F",
        host_with(8, "MI355X", "AMD EPYC 9655 96-Core Processor", 384),
        false
    )]
    #[case("8xMI355X_2xEPYC_9575F", host_with(8, "MI355X", "", 256), false)]
    // Other parts of the name cannot be verified.
    #[case("XE7745_8xMI350P_2xEPYC-9455", host_with(8, "MI350P", CPU, 256), false)]
    #[case("8xMI300X_2xEPYC-TURIN", host_with(8, "MI300X", CPU, 256), false)]
    #[case("8xMI355X", host_with(8, "MI355X", CPU, 256), false)]
    #[case("", host_with(0, "", "", 0), false)]
    fn hardware_matches_the_system_name(
        #[case] system: &str,
        #[case] host: HostView,
        #[case] same: bool,
    ) {
        assert_eq!(is_same_sku(system, &host), same);
    }
}
