package resolver

import "time"

// Record is the registry record of a name, besides its targets. It is immutable, since requests share it.
type Record struct {
	Name       string // the resolved name, the name that it is an alias of, or a prefix of it
	Version    int    // version of the record; 1 is the first
	Changed    time.Time
	Status     string    // "active", "reserved" or "withdrawn"
	Since      time.Time // when it got this status
	Reason     string    // why it was withdrawn
	Successors []string  // replacements of a withdrawn name
	Metadata   string    // a JSON object, "" for none
	Contact    string    // whom to contact
	Sandbox    bool      // the name is temporary, and may be removed
	// Redirect is the status code of redirects to the targets, set for the name, a prefix of it or in the
	// configuration; 0 means the default for the form of the request.
	Redirect  int
	ClientTTL ClientTTL // lifetimes of the answer for clients
	// Links are the links that the name does not resolve to.
	Links []Link
	// Negotiable means that some of Links compete with the locations as targets of the name: defaults for
	// languages, GS1-Conformant Resolver standard section 2.5.8.
	Negotiable bool
}

// size returns the size of a record in bytes; 0 for nil.
func (r *Record) size() int {
	if r == nil {
		return 0
	}
	const fields, header = 248, 24
	size := fields + len(r.Name) + len(r.Reason) + len(r.Metadata) + len(r.Contact) + sizeOfLinks(r.Links)
	for _, s := range r.Successors {
		size += header + len(s)
	}
	return size
}
