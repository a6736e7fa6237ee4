// Package testserver starts real peers for tests, on loopback and on free
// ports, and stops them when the test ends.
//
// install.sh installs the peers. If a peer is missing, its tests are skipped, but
// in CI they fail: a skip there would hide that nothing was tested.
package testserver
