package message

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// pseudonym is the prefix of the names of all urnds in Via.
const pseudonym = "urnd"

// ViaName is the name of one urnd in Via (RFC 9110 section 7.6.3), a unique pseudonym. The
// zero value is a name that is not unique.
type ViaName struct {
	id string
}

// NewViaName returns a unique ViaName.
func NewViaName() ViaName { return ViaName{"-" + strconv.FormatUint(rand.Uint64(), 36)} } //nolint:gosec // it need not be secret

// String returns the entry of Via.
func (n ViaName) String() string { return "1.1 " + pseudonym + n.id }

// maxUrnds bounds the urnds that a request has come through: they may be chained, but a
// loop must end.
const maxUrnds = 4

// Loops reports whether a request with such a Via field has come through this urnd before, or through too many.
func (n ViaName) Loops(via string) bool {
	if n.id != "" && strings.Contains(via+",", " "+pseudonym+n.id+",") {
		return true
	}
	return strings.Count(via, " "+pseudonym) >= maxUrnds
}

type viaKey struct{}

// WithVia returns a context for a request with a Via field: outgoing requests on its behalf
// begin theirs with it, so that loops are detected.
func WithVia(ctx context.Context, via string) context.Context {
	return context.WithValue(ctx, viaKey{}, via)
}

// Fields sets Via (RFC 9110 section 7.6.3) and Traceparent of an outgoing request on
// behalf of ctx.
func (n ViaName) Fields(ctx context.Context, header http.Header) {
	via := n.String()
	if before, _ := ctx.Value(viaKey{}).(string); before != "" {
		via = before + ", " + via
	}
	header["Via"] = []string{via}
	SetTraceparent(ctx, header)
}
