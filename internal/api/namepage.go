package api

import (
	"reflect"
	"strings"

	"github.com/urnd/urnd/resolver/registry/field"
)

// NameMembers returns the names of the members of a Name.
func NameMembers() (all []string) {
	for _, f := range field.OfRecord() {
		all = append(all, f.Name)
	}
	for _, of := range []reflect.Type{reflect.TypeFor[NameKey](), reflect.TypeFor[NameVersion]()} {
		for f := range of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			all = append(all, name)
		}
	}
	return all
}

// NamePage is a part of a list of names or prefixes.
type NamePage struct {
	Names []Name `json:"names"`
	// Next is the cursor of the next page, "" for none.
	Next string `json:"next,omitempty"`
}

// NameHistory is a part of the versions of a name or prefix, the newest first.
type NameHistory struct {
	Versions []Name `json:"versions"`
	Next     string `json:"next,omitempty"`
}

// Withdrawal says why a name is withdrawn, and what came instead.
type Withdrawal struct {
	Reason     string   `json:"reason"`
	Successors []string `json:"successors"`
	Note       string   `json:"note"`
}

// Superseding says which names are withdrawn in favour of which others.
type Superseding struct {
	Names      []string `json:"names"`
	Successors []string `json:"successors"`
	Reason     string   `json:"reason"`
	Note       string   `json:"note"`
}

// Minting says which names are minted.
type Minting struct {
	Pattern string  `json:"pattern"`
	Count   int     `json:"count"`
	From    *uint64 `json:"from"` // the number that the counter goes on with; null is where it was
	Note    string  `json:"note"`
}

// Minted are the names that were minted.
type Minted struct {
	Names []string `json:"names"`
}
