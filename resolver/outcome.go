package resolver

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// savedOutcome is an answer, or a negative one, for processes that share it, in the encoding of a snapshot.
type savedOutcome struct {
	Locations []savedLocation `json:"locations,omitempty"`
	Negative  *savedNegative  `json:"negative,omitempty"`
}

type savedNegative struct {
	Kind      string    `json:"kind"`
	Reason    string    `json:"reason"`
	Code      string    `json:"code,omitempty"`
	Values    []string  `json:"values,omitempty"`
	Clients   ClientTTL `json:"clients"`
	Unclaimed bool      `json:"unclaimed,omitempty"`
}

// negativeKinds are the words for the kinds of negative answers.
func negativeKinds() map[string]error {
	return map[string]error{"unsupported": ErrUnsupported, "not found": ErrNotFound, "gone": ErrGone, "service": ErrService}
}

// EncodeOutcome returns the octets of an answer, or of a negative one, for another process, and whether it may be shared: what the registry
// of the site has said may not, since it is told to none but the processes that have the registry.
func EncodeOutcome(locations Locations, failure error) ([]byte, bool) {
	var saved savedOutcome
	if failure != nil {
		negative, ok := saveNegative(failure)
		if !ok {
			return nil, false
		}
		saved.Negative = &negative
	}
	for _, l := range locations {
		if l.From.Record != nil || !utf8.ValidString(l.From.Content) || !l.From.Relation.isText() {
			return nil, false
		}
		saved.Locations = append(saved.Locations, saveLocation(l))
	}
	text, err := json.Marshal(saved)
	return text, err == nil
}

// EncodeNegative is EncodeOutcome for caches of other values than answers: of a negative outcome alone.
func EncodeNegative(failure error) ([]byte, bool) { return EncodeOutcome(nil, failure) }

func saveNegative(failure error) (savedNegative, bool) {
	n, ok := failure.(*Negative) //nolint:errorlint // what wraps it would be lost
	if !ok || n.Record != nil || !utf8.ValidString(n.Reason) {
		return savedNegative{}, false
	}
	for word, kind := range negativeKinds() {
		if n.Kind == kind { //nolint:errorlint // it is one of these
			return savedNegative{word, n.Reason, n.Code, n.Values, n.Clients, n.Unclaimed}, true
		}
	}
	return savedNegative{}, false
}

var errOutcome = errors.New("it is no outcome of this version")

// DecodeOutcome returns the answer, or the negative one, that EncodeOutcome has made the octets of, with a TTL. The last error is for others.
func DecodeOutcome(text []byte, ttl time.Duration) (locations Locations, failure, err error) {
	var saved savedOutcome
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errOutcome, err)
	}
	if n := saved.Negative; n != nil {
		kind := negativeKinds()[n.Kind]
		if kind == nil {
			return nil, nil, errOutcome
		}
		return nil, &Negative{
			Kind: kind, Reason: n.Reason,
			Code: n.Code, Values: n.Values, TTL: ttl, Clients: n.Clients, Unclaimed: n.Unclaimed,
		}, nil
	}
	return savedAnswer{Locations: saved.Locations}.locations(make(savedSources)), nil, nil
}
