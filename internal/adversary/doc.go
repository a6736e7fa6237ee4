// Package adversary plays hostile inputs against the real daemon, on loopback, and says
// which it survives; it has no other code. "make adversary" runs it:
//
//   - main_test.go builds the daemon, plays every category, and prints the table;
//   - payload_test.go: what is played, and the verdict on it; table_test.go: the table;
//   - daemon_test.go: a process of the daemon; stage_test.go: the daemon with its peers; usage_test.go: what it holds;
//   - client_test.go and peer_*_test.go: what speaks with it;
//   - framing_*_test.go, ssrf_*_test.go, spoof_*_test.go, flood_*_test.go and
//     fault_*_test.go: the payloads, a family in each file;
//   - frames_*_test.go: frames of HTTP/2, by a client that can send any; connections_test.go: what a client of HTTP/1 does
//     with its connection. A new frame that floods is a row in frames_floods_test.go, one that is illegal in some state a
//     column in frames_states_test.go, and a field that HTTP/1 would read otherwise a row in frames_smuggling_test.go;
//   - forms_*_test.go: what can be written into the forms of pages. A new form is a row in forms_test.go, a new text one in
//     forms_texts_test.go;
//   - clients_*_test.go: two clients of one proxy, of whom one attacks what the other gets.
//
// Of two clients the victim's answer must be what it would be alone: clients_attack_test.go asks for it alone,
// and compares. What an attacker sends is in an attack: its requests, the moment, and the site, which is what the
// origin does (clients_site_test.go) and which repeats all of a request that may matter; harmlessFields there are
// those that are excluded. A new attack is a row in clients_fields_test.go and its siblings. None of that knows
// how urnd works. ADVERSARY_PEERS=1 plays it against nginx, Squid and Varnish instead (clients_peers_test.go).
//
// The peers share no code with the daemon: they would share its faults. Each payload names
// the section of the document that it was written from. A new one is a row in the table of
// a family; a new family is a file, and a row in categories (main_test.go).
//
// ADVERSARY says how long: "short", or a duration for the random ones; ADVERSARY_ONLY is the
// name of one category, or the beginning of that of a family; ADVERSARY_SEED is a seed that a run of random
// attacks of clients has printed.
//
// Without the variable ADVERSARY, as in "make test", only the tables themselves are checked.
package adversary
