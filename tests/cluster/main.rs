//! The lab's Slurm cluster, and runs on several machines: by a site, by Slurm and by ssh.

mod agent_log;
mod example;
mod lab;
mod nodes;
mod published;
mod sites;
mod slurm;

#[path = "../support/mod.rs"]
mod support;
