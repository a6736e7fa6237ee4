package message

import "github.com/urnd/urnd/resolver"

// fieldSandbox marks replies about names for trial, which may be removed: a boolean of RFC 9651.
const fieldSandbox = "Urnd-Sandbox"

// WithRecord returns the reply with the header field for the record of its name, which may be nil: whether it is for trial.
func (r Reply) WithRecord(record *resolver.Record) Reply {
	if record != nil && record.Sandbox {
		r.Fields.Set(fieldSandbox, "?1")
	}
	return r
}

// AddLink adds a link, or several that commas separate, to the Link field. It stays one line: clients take the last of several.
func (r *Reply) AddLink(link string) {
	if link == "" {
		return
	}
	if before := r.Fields.Value("Link"); before != "" {
		link = before + ", " + link
	}
	r.Fields.Set("Link", link)
}
