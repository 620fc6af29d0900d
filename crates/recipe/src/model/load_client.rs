//! The client of a measurement that loads a server.

use retrial_document::{Field, FieldType as T, object};
use retrial_serving::Client;
use serde::{Deserialize, Serialize};

use crate::expression::{MEASUREMENT_SCOPE, Template};
use crate::formats;

object! {
    /// The program that loads a server, in whose output the figures are.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct LoadClient: "a client", or <Client as Field>::TYPE => LoadClient::from_word;
    keys {
        /// The program.
        program: Client [required],
        /// The tokens of each answer, where the client asks for a fixed number (`--ignore-eos`): answers of another length make the result invalid.
        output_tokens: Option<Template> = T::Template(MEASUREMENT_SCOPE, formats::COUNT),
    }
}

impl LoadClient {
    fn from_word(word: &str) -> Option<Self> {
        let program = Client::ALL.into_iter().find(|client| client.word() == word)?;
        Some(Self { program, output_tokens: None })
    }
}
