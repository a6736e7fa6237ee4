package api

import (
	"reflect"
	"strings"

	"github.com/urnd/urnd/resolver/registry/field"
)

// NameMembers returns the names of the members of a Name.
func NameMembers() (all []string) {
	for _, f := range field.RecordFields() {
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

// NamePage is a page of a list of names or prefixes.
type NamePage struct {
	Names []Name `json:"names"`
	// Next is the cursor of the next page, "" for none.
	Next string `json:"next,omitempty"`
}

// NameHistory is a page of the versions of a name or prefix, newest first.
type NameHistory struct {
	Versions []Name `json:"versions"`
	Next     string `json:"next,omitempty"`
}

// Withdrawal is a request to withdraw a name, with the reason and successors.
type Withdrawal struct {
	Reason     string   `json:"reason"`
	Successors []string `json:"successors"`
	Note       string   `json:"note"`
}

// Superseding is a request to withdraw names in favor of successors.
type Superseding struct {
	Names      []string `json:"names"`
	Successors []string `json:"successors"`
	Reason     string   `json:"reason"`
	Note       string   `json:"note"`
}

// Minting is a request to mint names.
type Minting struct {
	Pattern string  `json:"pattern"`
	Count   int     `json:"count"`
	From    *uint64 `json:"from"` // next number of the counter; null continues it
	Note    string  `json:"note"`
}

// Minted contains the minted names.
type Minted struct {
	Names []string `json:"names"`
}
