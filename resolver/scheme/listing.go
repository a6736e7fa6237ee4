package scheme

import "time"

// Listing is what a directory, a menu, a group, an article or the explanation of a URI is: a value
// without HTML, which proxy makes documents of. Its texts come from servers and may have any
// characters (see Text); they are escaped where they are shown. URIs in it are absolute, in normal
// form and without passwords. The zero value is an empty listing.
type Listing struct {
	Kind  string `json:"kind"`  // one of the constants
	Title string `json:"title"` // what is listed, in words: "/pub/doc", "comp.lang.c"
	URI   string `json:"uri"`   // of what is listed
	// Parent is what contains it; the zero value is none.
	Parent *Link `json:"parent,omitempty"`
	// Warnings are about the URI or the server, Notes what the server says, a paragraph each.
	Warnings []string `json:"warnings,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	// Properties describe it: header fields of an article, parts of a URI.
	Properties []Property `json:"properties,omitempty"`
	Search     *Search    `json:"search,omitempty"`
	Items      []Item     `json:"items,omitempty"`
	// Text is shown as it is, with its lines: the body of an article.
	Text string `json:"text,omitempty"`
	// Previous and Next are other parts of a long listing, Open what a program of the user opens.
	Previous *Link `json:"previous,omitempty"`
	Next     *Link `json:"next,omitempty"`
	Open     *Link `json:"open,omitempty"`
	// Incomplete is why the listing is not all of it, "" where it is.
	Incomplete string `json:"incomplete,omitempty"`
}

// The kinds of listings.
const (
	KindDirectory   = "directory"
	KindMenu        = "menu"
	KindGroups      = "groups"      // newsgroups
	KindGroup       = "group"       // articles of a newsgroup
	KindArticle     = "article"     // one of them
	KindResults     = "results"     // of a search
	KindDescription = "description" // of a URI that nothing is retrieved from
)

// Link is a URI with the words for it.
type Link struct {
	Text string `json:"text"`
	URI  string `json:"uri"`
}

// Property is a name with its value, which may be a link.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	URI   string `json:"uri,omitempty"` // "" for no link
}

// Search is a question that can be asked: its words, percent-encoded, are appended to Prefix.
type Search struct {
	Label  string `json:"label"`
	Prefix string `json:"prefix"`
}

// Item is one line of a listing.
type Item struct {
	Kind string `json:"kind"` // one of the constants
	Name string `json:"name"`
	URI  string `json:"uri,omitempty"`  // "" for no link
	Type string `json:"type,omitempty"` // media type; "" where it is not known
	Size *int64 `json:"size,omitempty"` // in octets; nil where it is not known
	// Modified is when it was changed, or sent; the zero value is not known.
	Modified time.Time `json:"modified,omitzero"`
	From     string    `json:"from,omitempty"`  // its author
	Note     string    `json:"note,omitempty"`  // more about it: an abstract, the target of a link
	Depth    int       `json:"depth,omitempty"` // in a thread; 0 is its first article
	Count    *int64    `json:"count,omitempty"` // of what it contains, such as articles of a group
}

// The kinds of items.
const (
	ItemDirectory = "directory"
	ItemFile      = "file"
	ItemLink      = "link" // a symbolic link: what it leads to is not known
	ItemText      = "text"
	ItemImage     = "image"
	ItemSound     = "sound"
	ItemVideo     = "video"
	ItemDocument  = "document"
	ItemArchive   = "archive"
	ItemWeb       = "web" // a page
	ItemSearch    = "search"
	ItemForm      = "form"
	ItemSession   = "session" // telnet, tn3270
	ItemGroup     = "group"
	ItemArticle   = "article"
	ItemInfo      = "info"  // a line of text
	ItemError     = "error" // what the server says instead of an item
	ItemOther     = "other"
)
