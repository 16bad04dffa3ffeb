//! Servers for the tests of the clients, all on the loopback interface.
