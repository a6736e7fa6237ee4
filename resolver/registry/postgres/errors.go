package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/urnd/urnd/resolver/registry"
)

// ErrUnknownOutcome means that the outcome of a Write is unknown: the connection was lost before the server confirmed
// the commit, and the server cannot be queried. The error also wraps registry.ErrUnavailable.
var ErrUnknownOutcome = errors.New("connection lost during the commit: outcome unknown")

// Error codes (SQLSTATE) of PostgreSQL.
const (
	codeDamagedData  = "XX001"
	codeDamagedIndex = "XX002"
	codeLockTimeout  = "55P03"
	codeReadOnly     = "25006"

	// Classes: connection exceptions, operator intervention (an administrator terminated the connection, or the
	// server is starting or stopping), and conditions that an administrator can resolve.
	codeConnections   = "08"
	codeInterventions = "57"
	codeResources     = "53"
	codeAuthorization = "28"
	codeCatalog       = "3D"
)

// wrapError wraps an error of PostgreSQL in the corresponding error of package registry.
func wrapError(err error) error {
	var failed *pgconn.PgError
	switch {
	case err == nil || errors.Is(err, registry.ErrSchema) || errors.Is(err, registry.ErrDamaged) ||
		errors.Is(err, registry.ErrInvalid) || errors.Is(err, registry.ErrUnavailable):
		return err
	case errors.As(err, &failed) && (failed.Code == codeDamagedData || failed.Code == codeDamagedIndex):
		return fmt.Errorf("%w: %w", registry.ErrDamaged, err)
	case errors.As(err, &failed) && failed.Code == codeLockTimeout:
		return fmt.Errorf("%w: serialization conflict with other instances: %w", registry.ErrUnavailable, err)
	default:
		// Clients see only the text of the inner error.
		return fmt.Errorf("%w: %w", fmt.Errorf("%w", registry.ErrUnavailable), oneLine{err})
	}
}

// oneLine is an error whose text is a single line. An error of connecting has one line per address.
type oneLine struct{ error }

// Error implements error.
func (e oneLine) Error() string {
	return strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ").Replace(e.error.Error())
}

// Unwrap returns the error.
func (e oneLine) Unwrap() error { return e.error }

// isLost reports whether an error concerns the connection, and not the statement or its result.
func isLost(err error) bool {
	for _, other := range [...]error{
		registry.ErrDamaged, registry.ErrSchema, registry.ErrInvalid, errSchema,
		errEncoding, errOld,
	} {
		if errors.Is(err, other) {
			return false
		}
	}
	var failed *pgconn.PgError
	if !errors.As(err, &failed) {
		return true
	}
	return isOf(failed.Code, codeConnections, codeInterventions)
}

// isReadOnly reports whether a server has rejected a write because it is read-only, such as a standby.
func isReadOnly(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.Code == codeReadOnly
}

// isOf reports whether a code belongs to one of some classes.
func isOf(code string, classes ...string) bool {
	for _, class := range classes {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}
