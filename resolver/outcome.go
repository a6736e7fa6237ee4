package resolver

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// savedOutcome is an answer or a negative answer, encoded as in a snapshot for processes that share it.
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

// negativeKinds returns the encoding of the kinds of negative answers.
func negativeKinds() map[string]error {
	return map[string]error{
		"unsupported": ErrUnsupported, "not found": ErrNotFound, "gone": ErrGone,
		"service": ErrService,
	}
}

// EncodeOutcome returns the encoding of an answer or a negative answer for another process, and whether it may
// be shared. Data of the registry may not: only processes with access to the registry may have it.
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

// EncodeNegative is EncodeOutcome for caches of other values than answers: it encodes only a negative answer.
func EncodeNegative(failure error) ([]byte, bool) { return EncodeOutcome(nil, failure) }

func saveNegative(failure error) (savedNegative, bool) {
	n, ok := failure.(*Negative) //nolint:errorlint // wrapping errors would be lost
	if !ok || n.Record != nil || !utf8.ValidString(n.Reason) {
		return savedNegative{}, false
	}
	for word, kind := range negativeKinds() {
		if n.Kind == kind { //nolint:errorlint // compared with the sentinel errors themselves
			return savedNegative{word, n.Reason, n.Code, n.Values, n.ClientTTL, n.Unclaimed}, true
		}
	}
	return savedNegative{}, false
}

var errOutcome = errors.New("invalid outcome for this version")

// DecodeOutcome decodes the result of EncodeOutcome: an answer, or a negative answer as failure, which gets the
// TTL. err reports invalid input.
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
			Code: n.Code, Values: n.Values, TTL: ttl, ClientTTL: n.Clients, Unclaimed: n.Unclaimed,
		}, nil
	}
	return savedAnswer{Locations: saved.Locations}.locations(make(savedSources)), nil, nil
}
