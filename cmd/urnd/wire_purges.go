package main

import (
	"slices"

	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/resolver"
)

// The kinds of purges in the log of the second level, besides valkey.Everything: of answers, and of stored responses.
const (
	purgeName      = "name"
	purgeNamespace = "namespace"
	purgePrefix    = "prefix"
	purgeAnswers   = "answers" // all

	purgeURI            = "uri"
	purgeResponsePrefix = "response-prefix"
	purgeHost           = "host"
	purgeTag            = "tag"
	purgeResponses      = "responses" // all
)

// isOfResponses reports whether a purge of the log is about stored responses alone, and isOfAnswers whether it is about answers alone. One
// of a kind of a later version is about both.
func isOfResponses(p valkey.Purge) bool {
	return slices.Contains([]string{purgeURI, purgeResponsePrefix, purgeHost, purgeTag, purgeResponses}, p.Kind)
}

func isOfAnswers(p valkey.Purge) bool {
	return slices.Contains([]string{purgeName, purgeNamespace, purgePrefix, purgeAnswers}, p.Kind)
}

// sharedPurge returns a selection of answers, whose name is canonical, as a purge of the log.
func sharedPurge(s resolver.Selection, soft bool) valkey.Purge {
	switch {
	case s.Name.IsValid():
		return valkey.Purge{Kind: purgeName, Text: s.Name.String(), Soft: soft}
	case s.Namespace != "":
		return valkey.Purge{Kind: purgeNamespace, Text: s.Namespace, Soft: soft}
	case s.Prefix != "":
		return valkey.Purge{Kind: purgePrefix, Text: s.Prefix, Soft: soft}
	default:
		return valkey.Purge{Kind: purgeAnswers, Soft: soft}
	}
}

// purgesAnswer reports whether a purge of the log is about the answer of a key.
func purgesAnswer(p valkey.Purge, key string) bool {
	switch p.Kind {
	case "": // the begin of the log
		return false
	case purgeName:
		return key == p.Text || resolver.NameOfKey(key) == p.Text
	case purgeNamespace:
		return resolver.Selection{Namespace: p.Text}.Has(key)
	case purgePrefix:
		return resolver.Selection{Prefix: p.Text}.Has(key)
	default:
		return !isOfResponses(p)
	}
}

// purgesRecords reports whether a purge of the log is about DNS record sets. Which of them a name was resolved by is known for those in
// memory alone: it is about all of the others.
func purgesRecords(p valkey.Purge) bool { return p.Kind != "" && !p.Soft && !isOfResponses(p) }

// selectionOf returns which answers a purge of the log is about: all, where it is of a later version.
func selectionOf(p valkey.Purge) resolver.Selection {
	switch p.Kind {
	case purgeName:
		if q, err := resolver.ParseQuery(p.Text, resolver.I2L); err == nil {
			return resolver.Selection{Name: q.URI}
		}
	case purgeNamespace:
		return resolver.Selection{Namespace: p.Text}
	case purgePrefix:
		return resolver.Selection{Prefix: p.Text}
	}
	return resolver.Selection{All: true}
}
