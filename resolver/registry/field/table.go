package field

import "github.com/urnd/urnd/resolver/registry"

// RecordFields returns the table of the fields of a record.
func RecordFields() Fields[registry.Record] { return record }

// TargetFields returns the table of the fields of a target.
func TargetFields() Fields[registry.Target] { return target }

var record = Fields[registry.Record]{
	{
		Name: "status", Label: "status", Type: Status, Public: true, Required: true,
		Doc: "active: resolves to its targets; reserved: no target yet; withdrawn: no target any more",
		at:  func(r *registry.Record) any { return &r.Status },
	},
	{
		Name: "since", Label: "since", Type: Time, Public: true, ReadOnly: true,
		Doc: "time of the last change of the status",
		at:  func(r *registry.Record) any { return &r.Since },
	},
	{
		Name: "reason", Label: "reason", Public: true, WithdrawnOnly: true,
		Doc: "reason of the withdrawal, shown to the public",
		at:  func(r *registry.Record) any { return &r.Reason },
	},
	{
		Name: "successors", Label: "successor", Type: List, Public: true, WithdrawnOnly: true,
		Doc: "URIs of what replaces a withdrawn name",
		at:  func(r *registry.Record) any { return &r.Successors },
	},
	{
		Name: "alias", Flag: "alias-of", Label: "alias of", Type: URI, Kinds: Names,
		Doc:   "canonical name that the alias resolves to; an alias has no targets",
		Usage: "make it an alias of this `name`; an alias has no targets; empty: no alias",
		at:    func(r *registry.Record) any { return &r.Alias },
	},
	{
		Name: "targets", Label: "target", Type: Targets, Redactable: true, Required: true,
		Doc: "targets in order of preference",
		at:  func(r *registry.Record) any { return &r.Targets },
	},
	{
		Name: "metadata", Label: "metadata", Type: JSON, Merge: PerMember, Public: true, Redactable: true,
		Doc:   "metadata of the resource: a JSON object",
		Usage: "metadata of the resource: a JSON object, or a `file` with one, - for standard input; empty: none",
		at:    func(r *registry.Record) any { return &r.Metadata },
	},
	{
		Name: "contact", Label: "contact", Public: true, Redactable: true,
		Doc:   "contact: a name, a mail address or a URI",
		Usage: "contact: a name, a mail address or a URI, as `text`; empty: none",
		at:    func(r *registry.Record) any { return &r.Contact },
	},
	{
		Name: "redirect", Label: "redirect", Type: Number, Public: true,
		Doc: "redirect status; that of a prefix applies to all names " +
			"below it without one. Default: the configured one",
		Usage: "redirect clients with this `status`: 301, 302, 303, 307 or 308; that of a prefix also applies to " +
			"names below it without one; empty: that of the prefix or the configured one",
		at: func(r *registry.Record) any { return &r.Redirect }, parse: registry.ParseRedirect,
	},
	{
		Name: "pattern", Label: "pattern", Kinds: Prefixes,
		Doc: "prefixes only: regular expression (RE2) that the rest of an unregistered name must match",
		Usage: "prefixes only: regular `expression` (RE2) that the rest of an unregistered name must match; others " +
			"are not found",
		at: func(r *registry.Record) any { return &r.Pattern },
	},
	{
		Name: "authoritative", Label: "authoritative", Type: Bool, Kinds: Prefixes,
		Doc: "prefixes only: no other system is queried for names below it; without targets, unregistered names " +
			"do not exist",
		Usage: "prefixes only: no other system is queried for names below it; without targets, unregistered names " +
			"do not exist",
		at: func(r *registry.Record) any { return &r.Authoritative },
	},
	{
		// Names inherit it from their prefix.
		Name: "sandbox", Label: "sandbox", Type: Bool, Kinds: Prefixes, Public: true,
		Doc:   "names below the prefix may be purged, and the prefix too",
		Usage: "prefixes only: names below it may be purged",
		at:    func(r *registry.Record) any { return &r.Sandbox },
	},
}

const ofTarget = " of a target"

var target = Fields[registry.Target]{
	{
		Name: "uri", Column: "target", Flag: "target", Label: "URI", Type: URI, Public: true, Required: true,
		Doc:   "target URI; of a prefix: a URI that the rest of a name is appended to, or a URI template (RFC 6570)",
		Usage: "target `URI`; of a prefix, also a template",
		at:    func(t *registry.Target) any { return &t.URI }, of: ofTarget,
	},
	{
		Name: "type", Label: "media type", Public: true,
		Doc:   "the media type of the resource",
		Usage: "the media `type` of the target, such as application/pdf",
		at:    func(t *registry.Target) any { return &t.Type }, of: ofTarget,
	},
	{
		Name: "language", Label: "language", Public: true,
		Doc:   "the language of the resource, a tag of RFC 5646",
		Usage: "the `language` of the target, such as fi",
		at:    func(t *registry.Target) any { return &t.Language }, of: ofTarget,
	},
	{
		Name: "priority", Label: "priority", Type: Number,
		Doc:   "priority among the targets, the least first",
		Usage: "priority `number` of the target, the least first",
		at:    func(t *registry.Target) any { return &t.Priority }, of: ofTarget,
	},
	{
		Name: "from", Label: "from", Type: Time,
		Doc:   "start of validity",
		Usage: "start of validity of the target: a `time`, or a date, which means its start (UTC)",
		at:    func(t *registry.Target) any { return &t.From }, of: ofTarget,
	},
	{
		Name: "until", Label: "until", Type: Time, EndOfDay: true,
		Doc:   "end of validity",
		Usage: "end of validity of the target: a `time`, or a date, which means its end (UTC)",
		at:    func(t *registry.Target) any { return &t.Until }, of: ofTarget,
	},
	{
		Name: "note", Column: "target_note", Flag: "target-note", Label: "note",
		Doc:   "note for editors",
		Usage: "note about the target: a `text`",
		at:    func(t *registry.Target) any { return &t.Note }, of: ofTarget,
	},
	{
		Name: "rel", Label: "relation type", Type: Word, Public: true,
		Doc: "relation to the resource: a relation type of RFC 8288, or a URI; names resolve to targets without " +
			"one, and to item and gs1:defaultLink",
		Usage: "the `relation` of the target to the resource, such as describedby or gs1:pip",
		at:    func(t *registry.Target) any { return &t.Rel }, of: ofTarget,
	},
	{
		Name: "title", Label: "title", Public: true,
		Doc:   "title, for people",
		Usage: "the `title` of the target, for people",
		at:    func(t *registry.Target) any { return &t.Title }, of: ofTarget,
	},
	{
		Name: "context", Label: "context", Type: Word, Public: true,
		Doc:   "audience, typically a country",
		Usage: "audience of the target, such as a country: a `word`",
		at:    func(t *registry.Target) any { return &t.Context }, of: ofTarget,
	},
}
