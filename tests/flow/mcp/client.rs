//! A client of the server: the official one, in Python.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::support::needs::find_python;

/// A client that is connected to a server of its own.
pub struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// The answer of a tool.
#[derive(Debug)]
pub struct Answer {
    pub is_error: bool,
    /// What it returned; of arguments that were refused, the text.
    pub value: Value,
}

impl Client {
    /// Connects to `retrial mcp` with these options, next to the lab's recipe.
    pub fn connect(lab: &Lab, options: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flow/mcp/client.py");
        let mut command = lab.environment_of(Command::new(find_python(&["mcp"])));
        command.arg(script).arg(env!("CARGO_BIN_EXE_retrial")).arg("mcp").args(options);
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, input, output }
    }

    /// Calls a method of the client.
    #[expect(clippy::needless_pass_by_value, reason = "json!")]
    pub fn ask(&mut self, request: Value) -> Value {
        writeln!(self.input.as_ref().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{request}: {error}: {line}"))
    }

    /// Calls a tool.
    #[expect(clippy::needless_pass_by_value, reason = "json!")]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let answer = self.ask(json!(["call_tool", tool, arguments]));
        let text = || answer["content"][0]["text"].clone();
        let value = answer.get("structuredContent").cloned().unwrap_or_else(text);
        Answer { is_error: answer["isError"] == true, value }
    }

    /// Reads a resource: its text, or why it is refused.
    pub fn read(&mut self, address: &str) -> Result<String, String> {
        let answer = self.ask(json!(["read_resource", address]));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        text(&answer["contents"][0]["text"]).ok_or_else(|| text(&answer["refused"]).unwrap())
    }
}

impl Answer {
    /// The result of a tool that succeeded.
    #[track_caller]
    pub fn result(self) -> Value {
        assert!(!self.is_error, "{:#}", self.value);
        self.value["result"].clone()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}
