package api

import (
	"net/http"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// newToken is the document of a token to be created.
type newToken struct {
	Name     string            `json:"name"`
	Role     registry.Role     `json:"role"`
	Prefixes []string          `json:"prefixes"`
	Actions  []registry.Action `json:"actions"`
	Note     string            `json:"note"`
	Expires  time.Time         `json:"expires"`
}

// serveTokens returns the tokens that the actor may revoke.
func serveTokens(c *call) (message.Reply, error) {
	all, _, err := c.service.Tokens(c.Context(), c.actor) // damaged tokens are reported by "urnd registry verify"
	return message.JSON(http.StatusOK, map[string]any{"tokens": notNil(all)}), err
}

// serveCreateToken creates a token, and returns its secret, which is shown only once.
func serveCreateToken(c *call) (message.Reply, error) {
	var document newToken
	if err := c.decode(&document); err != nil {
		return message.Reply{}, err
	}
	made, secret, err := c.service.CreateToken(c.Context(), c.actor, token.Token{
		Name: document.Name, Role: document.Role, Prefixes: document.Prefixes, Actions: document.Actions,
		Note: document.Note, Expires: document.Expires,
	})
	return message.JSON(http.StatusCreated, struct {
		token.Token
		Secret string `json:"secret"`
	}{made, secret}), err
}

// serveRevokeToken revokes a token, and ends its sessions.
func (a *API) serveRevokeToken(c *call) (message.Reply, error) {
	revoked, err := c.service.RevokeToken(c.Context(), c.actor, c.id)
	if err != nil {
		return message.Reply{}, err
	}
	a.Revoked(revoked.ID)
	return message.JSON(http.StatusOK, revoked), nil
}
