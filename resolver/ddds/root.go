package ddds

import (
	"context"
	"errors"

	"github.com/urnd/urnd/resolver"
)

// QueryRoot returns a function that queries the rules of a root. Any answer, even a negative one, is a success.
func QueryRoot(client Lookuper, root string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, _, err := client.NAPTR(ctx, root)
		if errors.As(err, new(*resolver.Negative)) {
			return nil
		}
		return err
	}
}
