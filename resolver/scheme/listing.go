package scheme

import "time"

// Listing is the content of a directory, menu, newsgroup or article, or the explanation of a URI. It has no
// HTML: package proxy renders documents from it. Its texts come from servers and may have any characters (see
// Text); rendering escapes them. Its URIs are absolute, in normal form and without passwords. The zero value is
// an empty listing.
type Listing struct {
	Kind  string `json:"kind"`  // one of the Kind constants
	Title string `json:"title"` // title of the listing: "/pub/doc", "comp.lang.c"
	URI   string `json:"uri"`   // URI of the listed resource
	// Parent is the listing that contains it; nil for none.
	Parent *Link `json:"parent,omitempty"`
	// Warnings are about the URI or the server, Notes are texts of the server; each string is a paragraph.
	Warnings []string `json:"warnings,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	// Properties are names and values: header fields of an article, parts of a URI.
	Properties []Property `json:"properties,omitempty"`
	Search     *Search    `json:"search,omitempty"`
	Items      []Item     `json:"items,omitempty"`
	// Text is preformatted, with its line breaks: the body of an article.
	Text string `json:"text,omitempty"`
	// Previous and Next are the adjacent pages of a long listing. Open is a link that a program on the user's
	// device opens.
	Previous *Link `json:"previous,omitempty"`
	Next     *Link `json:"next,omitempty"`
	Open     *Link `json:"open,omitempty"`
	// Incomplete is the reason why the listing is truncated, "" if it is complete.
	Incomplete string `json:"incomplete,omitempty"`
}

// The kinds of listings.
const (
	KindDirectory   = "directory"
	KindMenu        = "menu"
	KindGroups      = "groups"      // newsgroups
	KindGroup       = "group"       // articles of a newsgroup
	KindArticle     = "article"     // an article
	KindResults     = "results"     // search results
	KindDescription = "description" // explanation of a URI that cannot be retrieved
)

// Link is a URI with its link text.
type Link struct {
	Text string `json:"text"`
	URI  string `json:"uri"`
}

// Property is a name and a value, which may be a link.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	URI   string `json:"uri,omitempty"` // "" for no link
}

// Search is a search form: the query, percent-encoded, is appended to Prefix.
type Search struct {
	Label  string `json:"label"`
	Prefix string `json:"prefix"`
}

// Item is one line of a listing.
type Item struct {
	Kind string `json:"kind"` // one of the Item constants
	Name string `json:"name"`
	URI  string `json:"uri,omitempty"`  // "" for no link
	Type string `json:"type,omitempty"` // media type; "" if unknown
	Size *int64 `json:"size,omitempty"` // in bytes; nil if unknown
	// Modified is the time of modification, or of sending; the zero value is unknown.
	Modified time.Time `json:"modified,omitzero"`
	From     string    `json:"from,omitempty"`  // author
	Note     string    `json:"note,omitempty"`  // additional text: an abstract, the target of a link
	Depth    int       `json:"depth,omitempty"` // depth in a thread; 0 is the first article
	// Count is the number of contained resources, such as articles of a group; nil if unknown.
	Count *int64 `json:"count,omitempty"`
}

// The kinds of items.
const (
	ItemDirectory = "directory"
	ItemFile      = "file"
	ItemLink      = "link" // a symbolic link, whose target is of unknown type
	ItemText      = "text"
	ItemImage     = "image"
	ItemSound     = "sound"
	ItemVideo     = "video"
	ItemDocument  = "document"
	ItemArchive   = "archive"
	ItemWeb       = "web" // a web page
	ItemSearch    = "search"
	ItemForm      = "form"
	ItemSession   = "session" // telnet, tn3270
	ItemGroup     = "group"
	ItemArticle   = "article"
	ItemInfo      = "info"  // a line of text
	ItemError     = "error" // an error of the server in place of an item
	ItemOther     = "other"
)
