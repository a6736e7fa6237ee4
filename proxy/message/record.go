package message

import "github.com/urnd/urnd/resolver"

// fieldSandbox marks replies about trial names, which may be deleted: a Boolean of RFC 9651.
const fieldSandbox = "Urnd-Sandbox"

// WithRecord returns the reply with the header field for the registry record of its name: whether it is a trial
// name. record may be nil.
func (r Reply) WithRecord(record *resolver.Record) Reply {
	if record != nil && record.Sandbox {
		r.Fields.Set(fieldSandbox, "?1")
	}
	return r
}

// AddLink adds one or more comma-separated links to the field Link. The field stays on one line, because some
// clients read only the last one.
func (r *Reply) AddLink(link string) {
	if link == "" {
		return
	}
	if before := r.Fields.Get("Link"); before != "" {
		link = before + ", " + link
	}
	r.Fields.Set("Link", link)
}
