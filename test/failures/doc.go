// Package failures contains the end-to-end tests of failures: how urnd responds, logs and counts if the servers
// on which it depends (DNS: RFC 1035, THTTP: RFC 2169, HTTP) fail, misbehave or lie. Scripted servers enter;
// the response, the log and the metrics of a request are checked.
package failures
