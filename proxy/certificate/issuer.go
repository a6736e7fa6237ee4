package certificate

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// errNoCertificate is the error for an order that the authority completes without a certificate.
var errNoCertificate = errors.New("the certificate authority sent no certificate")

// issuer orders certificates from the authority. It implements certmagic.Issuer and RenewalInfoGetter, because
// those of certmagic would dial without the guard.
type issuer struct {
	config     ManagerConfig
	challenges *challenges
	key        string // storage key of this authority
	current    func(name string) *x509.Certificate
	client     *http.Client
	limit      *limit
}

func newIssuer(config ManagerConfig) *issuer {
	digest := sha256.Sum256([]byte(config.Directory))
	i := &issuer{
		config: config, challenges: newChallenges(config.Storage), key: "acme-" + hex.EncodeToString(digest[:8]),
		limit: &limit{now: config.Now},
	}
	client := *config.Client
	client.Transport = &limitTransport{client.Transport, i.limit}
	i.client = &client
	return i
}

// IssuerKey implements certmagic.Issuer.
func (i *issuer) IssuerKey() string { return i.key }

// newClient returns an ACME client for the authority.
func (i *issuer) newClient() *acmez.Client {
	return &acmez.Client{
		Client: &acme.Client{Directory: i.config.Directory, HTTPClient: i.client, UserAgent: "urnd"},
		ChallengeSolvers: map[string]acmez.Solver{
			acme.ChallengeTypeHTTP01: i.challenges, acme.ChallengeTypeTLSALPN01: i.challenges,
		},
	}
}

// orderFailure is the cause of a failed order, without what the library adds.
type orderFailure struct{ error }

// Unwrap returns the cause.
func (f orderFailure) Unwrap() error { return f.error }

// Issue implements certmagic.Issuer.
func (i *issuer) Issue(ctx context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	issued, err := i.order(ctx, csr)
	if err != nil {
		return nil, orderFailure{err}
	}
	return issued, nil
}

// order orders a certificate. It implements Issue.
func (i *issuer) order(ctx context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	if wait := i.limit.pause(); wait > 0 {
		return nil, fmt.Errorf("rate limit of the certificate authority reached; retrying in %s",
			wait.Round(time.Second))
	}
	client := i.newClient()
	account, err := i.account(ctx, client)
	if err != nil {
		return nil, i.noted(err)
	}
	order, err := acmez.OrderParametersFromCSR(account, csr)
	if err != nil {
		return nil, fmt.Errorf("creating the order: %w", err)
	}
	if len(order.Identifiers) == 1 {
		order.Replaces = i.current(order.Identifiers[0].Value) // RFC 9773 section 5
	}
	chains, err := client.ObtainCertificate(ctx, order)
	if order.Replaces != nil && isOrderRefused(err) { // it was already replaced, or is of another account or authority
		order.Replaces = nil
		chains, err = client.ObtainCertificate(ctx, order)
	}
	if problem, ok := problemOf(err); ok && problem.Type == acme.ProblemTypeAccountDoesNotExist {
		// The next attempt creates another account.
		err = errors.Join(err, i.config.Storage.Delete(ctx, i.accountPath()))
	}
	switch {
	case err != nil:
		return nil, i.noted(err)
	case len(chains) == 0:
		return nil, errNoCertificate
	}
	return &certmagic.IssuedCertificate{Certificate: chains[0].ChainPEM, Metadata: chains[0]}, nil
}

// isOrderRefused reports whether the authority has rejected the order itself. A failed challenge, which counts
// against the rate limits of the authority, and a problem with the account are excluded.
func isOrderRefused(err error) bool {
	problem, ok := problemOf(err)
	if !ok || problem.Resource != nil || problem.Status == http.StatusTooManyRequests {
		return false
	}
	return problem.Type != acme.ProblemTypeRateLimited && problem.Type != acme.ProblemTypeAccountDoesNotExist
}

// GetRenewalInfo returns when the authority suggests renewing a certificate (RFC 9773).
func (i *issuer) GetRenewalInfo(ctx context.Context, c certmagic.Certificate) (acme.RenewalInfo, error) {
	return i.newClient().GetRenewalInfo(ctx, c.Leaf)
}

// noted pauses all orders if the authority reports that its rate limit was exceeded: RFC 8555 section 6.6
// defines a problem type for that, but no status.
func (i *issuer) noted(err error) error {
	if problem, ok := problemOf(err); ok && problem.Type == acme.ProblemTypeRateLimited {
		i.limit.extend(rateLimit)
	}
	return err
}

// stored is the stored form of an account.
type stored struct {
	Account acme.Account `json:"account"`
	Key     []byte       `json:"key"` // PKCS #8
}

func (i *issuer) accountPath() string { return path.Join(i.key, "account.json") }

// account returns the stored account at the authority, or registers a new one, which agrees to the terms of
// service.
func (i *issuer) account(ctx context.Context, client *acmez.Client) (acme.Account, error) {
	if err := i.config.Storage.Lock(ctx, i.accountPath()); err != nil {
		return acme.Account{}, fmt.Errorf("locking the account: %w", err)
	}
	defer func() { _ = i.config.Storage.Unlock(context.WithoutCancel(ctx), i.accountPath()) }()
	content, err := i.config.Storage.Load(ctx, i.accountPath())
	switch {
	case err == nil:
		return readAccount(content)
	case !isMissing(err):
		return acme.Account{}, fmt.Errorf("reading the account: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return acme.Account{}, fmt.Errorf("creating the account key: %w", err)
	}
	account := acme.Account{TermsOfServiceAgreed: true, PrivateKey: key}
	if i.config.Contact != "" {
		account.Contact = []string{"mailto:" + i.config.Contact}
	}
	if i.config.KeyID != "" {
		if err := account.SetExternalAccountBinding(ctx, client.Client,
			acme.EAB{KeyID: i.config.KeyID, MACKey: i.config.HMAC}); err != nil {
			return acme.Account{}, fmt.Errorf("binding the account: %w", err)
		}
	}
	if account, err = client.NewAccount(ctx, account); err != nil {
		return acme.Account{}, fmt.Errorf("creating an account: %w", err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return acme.Account{}, fmt.Errorf("encoding the account key: %w", err)
	}
	if content, err = json.Marshal(stored{account, encoded}); err != nil {
		return acme.Account{}, fmt.Errorf("encoding the account: %w", err)
	}
	if err := i.config.Storage.Store(ctx, i.accountPath(), content); err != nil {
		return acme.Account{}, fmt.Errorf("storing the account: %w", err)
	}
	return account, nil
}

// readAccount decodes a stored account.
func readAccount(content []byte) (acme.Account, error) {
	var s stored
	if err := json.Unmarshal(content, &s); err != nil {
		return acme.Account{}, fmt.Errorf("reading the account: %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(s.Key)
	if err != nil {
		return acme.Account{}, fmt.Errorf("reading the account key: %w", err)
	}
	signer, is := key.(crypto.Signer)
	if !is {
		return acme.Account{}, errors.New("reading the account key: not a signing key")
	}
	s.Account.PrivateKey = signer
	return s.Account, nil
}
