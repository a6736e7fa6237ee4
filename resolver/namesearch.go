package resolver

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// NameSearch is a search for names of the registry. A name must match all fields; "" matches any name.
type NameSearch struct {
	// Prefix is a prefix of the names, in any equivalent spelling.
	Prefix string
	// Words are words of titles, the last of which may be a prefix of a word. Tag is one of the tags.
	Words, Tag string
	// Host is the host of a target, or a parent domain of it.
	Host string
	// Status is "active", "reserved" or "withdrawn".
	Status string
	// After is the cursor: NamePage.Next of the previous page, "" for the first page.
	After string
	// All includes names that are reserved, withdrawn or temporary.
	All bool
	// Client is the address of the client: see quota.Limit.
	Client netip.Addr
}

// Filtered reports whether the search has a filter besides what the client may see.
func (s *NameSearch) Filtered() bool {
	return s.Prefix != "" || s.Words != "" || s.Tag != "" || s.Host != "" || s.Status != ""
}

// NamePage is one page of names of the registry, in their order.
type NamePage struct {
	Names []NameSummary
	// Next is the cursor of the next page, "" on the last page.
	Next string
	// TimedOut reports that the search reached its time limit: there may be more names even if the page is not
	// full.
	TimedOut bool
}

// NameSummary is a name of the registry as lists show it.
type NameSummary struct {
	Name   string // canonical
	Status string
	// Alias is the name that this name is an alias of; "" if it is no alias.
	Alias string
	// Targets are a few of its targets at most. Title is the first title among them, and Metadata a JSON
	// object; each may be "".
	Targets         []string
	Title, Metadata string
	Sandbox         bool
	Changed         time.Time
}

// ErrSearchLimit means that too many clients search the registry.
var ErrSearchLimit = fmt.Errorf("%w: too many concurrent searches of the registry", ErrBusy)

// ErrCursor means that the cursor of a list is unknown or has expired.
var ErrCursor = errors.New("cursor unknown or expired: restart the list without a cursor")
