package field

import "github.com/urnd/urnd/resolver/registry"

// OfRecord returns the table of the fields of a record.
func OfRecord() Fields[registry.Record] { return record }

// OfTarget returns the table of the fields of a target.
func OfTarget() Fields[registry.Target] { return target }

var record = Fields[registry.Record]{
	{
		Name: "status", Label: "status", Type: Status, Public: true, Required: true,
		Doc: "whether it leads to its targets (active), leads nowhere yet (reserved), or does not any more (withdrawn)",
		at:  func(r *registry.Record) any { return &r.Status },
	},
	{
		Name: "since", Label: "since", Type: Time, Public: true, ReadOnly: true,
		Doc: "since when it has the status",
		at:  func(r *registry.Record) any { return &r.Since },
	},
	{
		Name: "reason", Label: "reason", Public: true, OfWithdrawn: true,
		Doc: "why it was withdrawn, which people are told",
		at:  func(r *registry.Record) any { return &r.Reason },
	},
	{
		Name: "successors", Label: "successor", Type: List, Public: true, OfWithdrawn: true,
		Doc: "the URIs of what came instead of it, where it is withdrawn",
		at:  func(r *registry.Record) any { return &r.Successors },
	},
	{
		Name: "alias", Flag: "alias-of", Label: "alias of", Type: URI, Kinds: Names,
		Doc:   "the canonical name that it is another name of; an alias has no targets",
		Usage: "make it another name of this `name`; an alias has no targets; empty: of none",
		at:    func(r *registry.Record) any { return &r.Alias },
	},
	{
		Name: "targets", Label: "target", Type: Targets, Redactable: true, Required: true,
		Doc: "where it leads, in the order in which they are offered",
		at:  func(r *registry.Record) any { return &r.Targets },
	},
	{
		Name: "metadata", Label: "metadata", Type: JSON, Merge: Members, Public: true, Redactable: true,
		Doc:   "what is known of what is named: a JSON object",
		Usage: "its metadata: a JSON object, or a `file` with one, - for standard input; empty: none",
		at:    func(r *registry.Record) any { return &r.Metadata },
	},
	{
		Name: "contact", Label: "contact", Public: true, Redactable: true,
		Doc:   "whom to ask: a name, a mail address or a URI",
		Usage: "whom to ask: a name, a mail address or a URI, as `text`; empty: nobody",
		at:    func(r *registry.Record) any { return &r.Contact },
	},
	{
		Name: "redirect", Label: "redirect", Type: Number, Public: true,
		Doc: "the status with which clients are redirected to the targets; that of a prefix is of all names that " +
			"begin with it and have none. Where nothing says one, it is that of the configuration",
		Usage: "redirect clients to the targets with this `status`: 301, 302, 303, 307 or 308; of a prefix also those of " +
			"names that begin with it and say none; empty: as the prefix or the configuration says",
		at: func(r *registry.Record) any { return &r.Redirect }, parse: registry.ParseRedirect,
	},
	{
		Name: "pattern", Label: "pattern", Kinds: Prefixes,
		Doc:   "of prefixes: a regular expression (RE2) of all that follows it in names that are not registered themselves",
		Usage: "of a prefix: what follows it in names that are not registered themselves, a regular `expression` (RE2); others are not found",
		at:    func(r *registry.Record) any { return &r.Pattern },
	},
	{
		Name: "authoritative", Label: "authoritative", Type: Bool, Kinds: Prefixes,
		Doc:   "of prefixes: no other system is asked for names below it; without targets, those that are not registered do not exist",
		Usage: "of a prefix: no other system is asked for names below it; without targets, those that are not registered do not exist",
		at:    func(r *registry.Record) any { return &r.Authoritative },
	},
	{
		// Names inherit it from their prefix.
		Name: "sandbox", Label: "sandbox", Type: Bool, Kinds: Prefixes, Public: true,
		Doc:   "names that are registered below the prefix may be purged, and so may it be",
		Usage: "of a prefix: names that are registered below it may be purged",
		at:    func(r *registry.Record) any { return &r.Sandbox },
	},
}

const ofTarget = " of a target"

var target = Fields[registry.Target]{
	{
		Name: "uri", Column: "target", Flag: "target", Label: "URI", Type: URI, Public: true, Required: true,
		Doc:   "where the name leads; of a prefix what the rest of a name is appended to, or a URI template (RFC 6570)",
		Usage: "where the name leads: a `URI`, or, of a prefix, also a template",
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
		Doc:   "its place in the order of the targets, the least first",
		Usage: "the `number` of the target by which targets are in order, the least first",
		at:    func(t *registry.Target) any { return &t.Priority }, of: ofTarget,
	},
	{
		Name: "from", Label: "from", Type: Time,
		Doc:   "when it begins to be valid",
		Usage: "when the target begins to be valid: a `time`, or a date, which means its beginning (UTC)",
		at:    func(t *registry.Target) any { return &t.From }, of: ofTarget,
	},
	{
		Name: "until", Label: "until", Type: Time, EndOfDay: true,
		Doc:   "when it is not valid any more",
		Usage: "when the target ends to be valid: a `time`, or a date, which means its end (UTC)",
		at:    func(t *registry.Target) any { return &t.Until }, of: ofTarget,
	},
	{
		Name: "note", Column: "target_note", Flag: "target-note", Label: "note",
		Doc:   "a note about it, for editors",
		Usage: "a note about the target: a `text`",
		at:    func(t *registry.Target) any { return &t.Note }, of: ofTarget,
	},
	{
		Name: "rel", Label: "relation type", Type: Word, Public: true,
		Doc:   "the relation to what is named: a relation type of RFC 8288, or a URI; names lead to targets without one, and to item and gs1:defaultLink",
		Usage: "the `relation` of the target to what is named, such as describedby or gs1:pip",
		at:    func(t *registry.Target) any { return &t.Rel }, of: ofTarget,
	},
	{
		Name: "title", Label: "title", Public: true,
		Doc:   "its title, for people",
		Usage: "the `title` of the target, for people",
		at:    func(t *registry.Target) any { return &t.Title }, of: ofTarget,
	},
	{
		Name: "context", Label: "context", Type: Word, Public: true,
		Doc:   "for whom it is, typically a country",
		Usage: "for whom the target is, such as a country: a `word`",
		at:    func(t *registry.Target) any { return &t.Context }, of: ofTarget,
	},
}
