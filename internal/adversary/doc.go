// Package adversary runs hostile inputs against the real daemon on loopback and reports which it survives; it
// contains only tests. Payloads enter, each written from a section of a specification (RFC 9110 to 9113, RFC
// 1035, CWE and others); a table of verdicts leaves. "make adversary" runs it:
//
//   - main_test.go builds the daemon, runs every category, and prints the table;
//   - payload_test.go: a payload and its verdict; table_test.go: the table;
//   - daemon_test.go: a process of the daemon; stage_test.go: the daemon with its peers; usage_test.go: its resources;
//   - client_test.go and peer_*_test.go: its clients and servers;
//   - framing_*_test.go, ssrf_*_test.go, spoof_*_test.go, flood_*_test.go and
//     failure_*_test.go: the payloads, one family per file;
//   - frames_*_test.go: HTTP/2 frames, by a client that can send any frame; connections_test.go: the use of HTTP/1
//     connections. A new flood of frames is a row in frames_floods_test.go, a frame that is illegal in some state a
//     column in frames_states_test.go, and a field that HTTP/1 would interpret differently a row in
//     frames_smuggling_test.go;
//   - forms_*_test.go: input to the forms of pages. A new form is a row in forms_test.go, a new text one in
//     forms_texts_test.go;
//   - clients_*_test.go: two clients of one proxy, one of which attacks the responses to the other.
//
// With two clients, the response to the victim must be the same as without the attacker: clients_attack_test.go
// requests it both ways and compares. An attack consists of the attacker's requests, the moment, and the site,
// which is the behavior of the origin (clients_site_test.go); it repeats all relevant parts of a request,
// except for the fields in safelistedFields. A new attack is a row in clients_fields_test.go or a similar file.
// These tests do not depend on the implementation of urnd: ADVERSARY_PEERS=1 runs them against nginx, Squid and
// Varnish instead (clients_peers_test.go).
//
// The peers share no code with the daemon, because they would share its bugs. Each payload names the section of
// the document from which it was written. A new payload is a row in the table of a family; a new family is a
// file, and a row in categories (main_test.go).
//
// ADVERSARY sets the time: "short", or a duration for the random tests; ADVERSARY_ONLY is the name of a
// category, or the prefix of that of a family; ADVERSARY_SEED is a seed printed by a run of random attacks of
// clients. Without the variable ADVERSARY, as in "make test", only the tables themselves are checked.
package adversary
