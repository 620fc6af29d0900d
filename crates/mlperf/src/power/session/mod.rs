//! The records of a session by the power tool's client and server, and the official tool's checks of both.
//! <https://github.com/mlcommons/power-dev/blob/master/compliance/check.py>

use serde_json::{Map, Value};

use crate::check::RuleCheck;

/// The releases of SPEC's `PTDaemon` that are supported.
const PTD_VERSIONS: [&str; 1] = ["1.11.1"];
/// Meters that are supported, with their numbers.
const SUPPORTED_METERS: [(&str, u64); 11] = [
    ("YokogawaWT210", 8),
    ("YokogawaWT500", 35),
    ("YokogawaWT500_multichannel", 48),
    ("YokogawaWT310", 49),
    ("YokogawaWT310E", 49),
    ("YokogawaWT330", 52),
    ("YokogawaWT330E", 52),
    ("YokogawaWT330_multichannel", 77),
    ("YokogawaWT210_DC", 508),
    ("YokogawaWT310_DC", 549),
    ("YokogawaWT330_DC", 586),
];
/// The meter of several channels that a session must use two of.
const TWO_CHANNEL_METER: u64 = 77;
/// The meter's answers to commands, by the beginning of the command.
const EXPECTED_REPLIES: [(&str, &str); 3] = [
    ("SR,A", "Range A changed"),
    ("SR,V", "Range V changed"),
    (
        "Go,1000,",
        "Starting untimed measurement, maximum 500000 samples at 1000ms with 0 rampup samples",
    ),
];
/// By how much client and server may time the same moment differently, s.
const MAX_CLOCK_DIFFERENCE_S: f64 = 0.8;

/// A summary of a session: `client.json` or `server.json`.
pub type PowerSession = Map<String, Value>;

/// The summaries of both sides of a session.
#[derive(Debug, Clone, Copy)]
pub struct PowerSessions<'a> {
    /// `client.json`, of the system under test.
    pub client: &'a PowerSession,
    /// `server.json`, of the machine with the meter.
    pub server: &'a PowerSession,
}

impl PowerSessions<'_> {
    /// Checks both against each other, and the meter's configuration and answers.
    pub fn check(self) -> Vec<RuleCheck> {
        let mut checks = vec![
            self.check_same_value("uuid"),
            self.check_same_value("session_name"),
            self.check_messages(),
            check_meter_identity(self.server),
            check_meter_replies(self.server),
            check_ranges_restored(self.server),
            check_debug_off(self.server),
        ];
        checks.extend(self.check_phase_clocks("ranging"));
        checks.extend(self.check_phase_clocks("testing"));
        checks.extend(check_meter_configs(self.server));
        checks
    }

    fn check_same_value(self, key: &str) -> RuleCheck {
        let [client, server] = [self.client, self.server].map(|side| side.get(key));
        let shown = |value: Option<&Value>| value.map_or("none".to_owned(), Value::to_string);
        RuleCheck::new(
            format!("{key} of the power session"),
            shown(client),
            format!("{}, as in server.json", shown(server)),
            client.is_some() && client == server,
        )
    }

    /// Checks that the server received the client's messages, and the client its replies.
    fn check_messages(self) -> RuleCheck {
        let [client, server] = [self.client, self.server].map(|side| list_member(side, "messages"));
        let is_same = |(sent, received): (&Value, &Value)| {
            let is_time = sent["cmd"] == "time";
            sent["cmd"] == received["cmd"] && (is_time || sent["reply"] == received["reply"])
        };
        let differing = client.iter().zip(server).position(|pair| !is_same(pair));
        let version = |text: Option<&Value>| {
            let greeting = text.and_then(Value::as_str)?;
            Some(greeting.rsplit_once(" v")?.1.to_owned())
        };
        let hello = server.first();
        let versions = [
            version(hello.map(|hello| &hello["cmd"])),
            version(hello.map(|hello| &hello["reply"])),
        ];
        let measured = match differing {
            _ if client.len() != server.len() => {
                format!("{} of the client, {} of the server", client.len(), server.len())
            }
            Some(at) => format!("message {} differs", at + 1),
            None if versions[0].is_none() || versions[0] != versions[1] => {
                "versions of client and server differ".to_owned()
            }
            None => "the same".to_owned(),
        };
        let passed = measured == "the same";
        let required = "the same in client.json and server.json";
        RuleCheck::new("messages of the power session", measured, required, passed)
    }

    /// Returns the moments of a phase, by both clocks.
    fn check_phase_clocks(self, phase: &str) -> Option<RuleCheck> {
        let [client, server] = [self.client, self.server].map(|side| phase_moments(side, phase));
        let (client, server) = (client?, server?);
        let distances = client.iter().zip(&server).map(|(one, other)| (one - other).abs());
        let apart = distances.fold(0.0, f64::max);
        let passed = client.len() == server.len() && apart <= MAX_CLOCK_DIFFERENCE_S;
        Some(RuleCheck::new(
            format!("clocks of the {phase} phase"),
            format!("{apart:.3} s apart in {} and {} moments", client.len(), server.len()),
            format!("at most {MAX_CLOCK_DIFFERENCE_S} s, in as many"),
            passed,
        ))
    }
}

/// Returns the start of each part of a phase, in seconds since 1970.
pub fn phase_moments(session: &PowerSession, phase: &str) -> Option<Vec<f64>> {
    let moments = session.get("phases")?.get(phase)?.as_array()?.iter();
    moments.map(|moment| moment.get(0)?.as_f64()).collect()
}

fn list_member<'a>(session: &'a PowerSession, key: &str) -> &'a [Value] {
    session.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the commands to the meter with its answers, in order.
fn meter_commands(server: &PowerSession) -> impl Iterator<Item = (&str, &str)> {
    let messages = list_member(server, "ptd_messages").iter();
    messages.filter_map(|message| Some((message["cmd"].as_str()?, message["reply"].as_str()?)))
}

fn check_meter_identity(server: &PowerSession) -> RuleCheck {
    let identify_command = meter_commands(server).find(|(command, _)| *command == "Identify");
    let reply = identify_command.map_or("", |(_, reply)| reply);
    let meter = reply.split(',').next().unwrap_or_default();
    let version_and_build = reply.split_once("version=").map_or("", |(_, rest)| rest);
    let version = version_and_build.split('-').next().unwrap_or_default();
    let passed =
        SUPPORTED_METERS.iter().any(|(name, _)| *name == meter) && PTD_VERSIONS.contains(&version);
    let measured = format!("{meter} by PTDaemon {version}");
    let required = format!("a supported meter, by PTDaemon {}", PTD_VERSIONS.join(" or "));
    RuleCheck::new("power meter", measured, required, passed)
}

fn check_meter_replies(server: &PowerSession) -> RuleCheck {
    let stops = meter_commands(server).filter(|(command, _)| command.starts_with("Stop"));
    let stopped = stops.enumerate().find(|(number, (_, reply))| {
        // The third finds nothing to stop.
        let expected = match number {
            2 => "Error: no measurement to stop",
            _ => "Stopping untimed measurement",
        };
        *reply != expected
    });
    let wrong_reply = meter_commands(server).find(|(command, reply)| {
        let mut expected = EXPECTED_REPLIES.iter();
        expected.any(|(begin, expected)| command.starts_with(begin) && reply != expected)
    });
    let wrong = wrong_reply.or(stopped.map(|(_, stop)| stop));
    let measured = wrong
        .map_or("as expected".to_owned(), |(command, reply)| format!("`{reply}` to `{command}`"));
    let rule = "answers of the power meter";
    RuleCheck::new(rule, measured, "as expected", wrong.is_none())
}

/// After the test the meter gets the ranges that it had before: `Ranges,0,40.0,0,1000.0`.
fn check_ranges_restored(server: &PowerSession) -> RuleCheck {
    let messages: Vec<(&str, &str)> = meter_commands(server).collect();
    let ranges = messages.get(2).map_or("", |(_, reply)| *reply);
    let fields: Vec<&str> = ranges.split(',').collect();
    let initial = |at: usize| {
        let value = fields.get(at + 1).copied().unwrap_or_default();
        let is_set =
            fields.get(at) == Some(&"0") && value.parse().is_ok_and(|value: f64| value > 0.0);
        if is_set { value } else { "Auto" }
    };
    let set = |kind: &str, number: usize| {
        let mut commands = messages.iter().filter(|(command, _)| command.starts_with(kind));
        commands.nth(number - 1).map(|(command, _)| *command)
    };
    let (amperes, volts) = (format!("SR,A,{}", initial(1)), format!("SR,V,{}", initial(3)));
    // One more of the current's is sent where its range was not known.
    let restored = [set("SR,A", 3), set("SR,A", 4)].contains(&Some(amperes.as_str()));
    let passed = restored && set("SR,V", 3) == Some(volts.as_str());
    let measured = if passed { "restored" } else { "not restored" };
    let required = format!("{amperes} and {volts} after the test");
    RuleCheck::new("ranges of the power meter", measured, required, passed)
}

fn check_debug_off(server: &PowerSession) -> RuleCheck {
    let value = server.get("debug");
    let passed = value.is_none_or(|value| *value == Value::Bool(false));
    let measured = value.map_or("off".to_owned(), Value::to_string);
    RuleCheck::new("debug mode of the power server", measured, "off", passed)
}

/// Checks each analyzer of `ptd_config`.
fn check_meter_configs(server: &PowerSession) -> Vec<RuleCheck> {
    let analyzers = list_member(server, "ptd_config").iter();
    let checks = analyzers.map(|analyzer| {
        let number = analyzer["device_type"].as_u64();
        let command = analyzer["command"].as_array();
        let words: Vec<&str> = command.into_iter().flatten().filter_map(Value::as_str).collect();
        let channel_argument = words.windows(2).find(|pair| pair[0] == "-c");
        let channels = channel_argument.map_or(0, |pair| pair[1].split(',').count());
        let used = analyzer["channel"].as_array().map_or(0, Vec::len);
        let known = SUPPORTED_METERS.iter().any(|(_, known)| Some(*known) == number);
        let passed = known && (number != Some(TWO_CHANNEL_METER) || channels == 2 && used == 2);
        let number_text = number.map_or("none".to_owned(), |number| number.to_string());
        let measured = format!("number {number_text}, {used} channels");
        let required = format!("a supported meter; two channels of number {TWO_CHANNEL_METER}");
        RuleCheck::new("configuration of the power meter", measured, required, passed)
    });
    checks.collect()
}

#[cfg(test)]
mod tests;
