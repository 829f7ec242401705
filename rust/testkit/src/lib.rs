//! Program generators and oracles for tests.
