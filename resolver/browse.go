package resolver

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// NameSearch says which names of the registry a reader looks for: those that all of its fields fit, "" being any.
type NameSearch struct {
	// Prefix is what the names begin with, in any spelling of it.
	Prefix string
	// Words are words of titles, of which the last one may be the beginning of a word, and Tag is one of the tags.
	Words, Tag string
	// Host is that of a target, or one that a target is below.
	Host string
	// Status is active, reserved or withdrawn.
	Status string
	// After is FoundNames.Next of the page before, "" for the first one.
	After string
	// All is whether the reader may also see names that are reserved, withdrawn or for trial.
	All bool
	// Client is who asks: see quota.Limit.
	Client netip.Addr
}

// IsFiltered reports whether not all names are listed that the reader may see.
func (s *NameSearch) IsFiltered() bool {
	return s.Prefix != "" || s.Words != "" || s.Tag != "" || s.Host != "" || s.Status != ""
}

// FoundNames are names of the registry, in their order.
type FoundNames struct {
	Names []ListedName
	// Next is where to go on, "" where there are no more.
	Next string
	// IsLate is whether the search ended because of its time: there may be more even where Names are few.
	IsLate bool
}

// ListedName is what lists say of a name of the registry.
type ListedName struct {
	Name   string // canonical
	Status string
	// Alias is the name that it is another name of, "" for none.
	Alias string
	// Targets are where it leads, at most a few; Title is the title of the first one that has one, and Metadata a JSON object, "" for none.
	Targets         []string
	Title, Metadata string
	IsSandbox       bool
	Changed         time.Time
}

// ErrBrowsing means that too many search the registry.
var ErrBrowsing = fmt.Errorf("%w: too many browse the registry", ErrBusy)

// ErrCursor means that where a list is to go on is not known, or not any more.
var ErrCursor = errors.New("where the list is to go on is not known here, or not any more: begin it again")
