package lookup

import (
	"fmt"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// decide decides by the status of an entry whether its targets may be used; nil means that they may. No other
// function decides that.
func decide(e *registry.Entry) error {
	if e.Status == registry.Active { // the fast path for most entries
		return nil
	}
	n := &resolver.Negative{Record: recordOf(e)}
	what, isPrefix := "the name", e.Kind == registry.KindPrefix
	if isPrefix {
		what, n.Values = "everything below "+e.Name, []string{"Prefix", e.Name}
	}
	switch e.Status {
	case registry.Withdrawn:
		day := e.Since.Format("2006-01-02")
		n.Kind, n.Reason, n.Code = resolver.ErrGone, what+" was withdrawn on "+day, "name_withdrawn"
		if isPrefix {
			n.Code = "prefix_withdrawn"
		}
		n.Values = append(n.Values, "Date", day)
		if e.Reason != "" {
			n.Reason += ": " + e.Reason
		}
		return n
	default:
		n.Kind, n.Reason, n.Code = resolver.ErrNotFound, what+" is reserved, without a target yet", "name_reserved"
		if isPrefix {
			n.Code = "prefix_reserved"
		}
		return n
	}
}

// notBelow returns the error for an unregistered name below an authoritative prefix.
func notBelow(p *registry.Entry) error {
	return &resolver.Negative{
		Kind:   resolver.ErrNotFound,
		Reason: fmt.Sprintf("not registered, and the registry is authoritative for names below %s", p.Name),
		Code:   "not_below_prefix", Values: []string{"Prefix", p.Name},
		Record: recordOf(p),
	}
}

// notRegistered returns the error for a name that is unknown to the registry.
func notRegistered() error {
	return &resolver.Negative{
		Kind: resolver.ErrUnsupported, Reason: "the name is not registered",
		Code: "name_not_registered",
	}
}

// dangling returns the error for a dangling alias. The alias itself is registered, so other systems are not
// queried for it.
func dangling(alias *registry.Entry) error {
	return &resolver.Negative{
		Kind: resolver.ErrNotFound, Reason: "alias of " + alias.Alias + ", which is not registered",
		Code: "alias_not_registered", Values: []string{"Name", alias.Alias}, Record: recordOf(alias),
	}
}

// recordOf returns the record of an entry for responses.
func recordOf(e *registry.Entry) *resolver.Record {
	r := makeRecord(e)
	return &r
}

func makeRecord(e *registry.Entry) resolver.Record {
	return resolver.Record{
		Name: e.Name, Version: e.Version, Changed: e.Changed, Status: e.Status.String(), Since: e.Since,
		Reason: e.Reason, Successors: e.Successors, Metadata: e.Metadata, Contact: e.Contact, Redirect: e.Redirect,
		Sandbox: e.Sandbox,
	}
}

// allows returns an error if an unregistered name does not match the pattern of its prefix.
func allows(p *registry.Entry, name string) error {
	if ok, err := p.MatchesPattern(name); ok || err != nil {
		return err
	}
	return &resolver.Negative{
		Kind: resolver.ErrNotFound, Reason: fmt.Sprintf("the part after %s does not match %s", p.Name, p.Pattern),
		Code: "not_of_pattern", Values: []string{"Prefix", p.Name, "Pattern", p.Pattern}, Record: recordOf(p),
	}
}
