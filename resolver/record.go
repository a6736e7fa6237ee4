package resolver

import "time"

// Record is what the registry of the site has of a name, besides its targets. It is immutable,
// since requests share it.
type Record struct {
	Name       string // whose record it is: the name, the name that it is an alias of, or a prefix of it
	Version    int    // of the record; 1 is the first
	Changed    time.Time
	Status     string    // "active", "reserved" or "withdrawn"
	Since      time.Time // since when it has this status
	Reason     string    // why it was withdrawn
	Successors []string  // what came instead of a withdrawn name
	Metadata   string    // a JSON object, "" for none
	Contact    string    // whom to ask
	Sandbox    bool      // the name is for trial, and may be removed
	// Redirect is the status with which clients are redirected to the targets, by the name, a prefix of it or the configuration; 0 is
	// the one of the form of the request.
	Redirect int
	Clients  ClientTTL // of the answer
	// Links are the targets of the name to which it does not lead.
	Links []Link
	// IsChoice is whether some of Links compete with the locations to be what the name leads to: defaults for languages, by
	// GS1-Conformant Resolver standard section 2.5.8.
	IsChoice bool
}

// size returns the memory of a record, in bytes; 0 for nil.
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
