package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"gatewayd/records"
)

// cookieName is the session's cookie, and headerCSRF what a request that changes something carries
// besides.
const (
	cookieName = "gatewayd_console"
	headerCSRF = "X-CSRF-Token"
)

// request is a signed-in user's request.
type request struct {
	echo.Context
	Gateway
	user  records.User
	csrf  string
	token string
}

// ctx is the request's, under the user's name in the history.
func (r request) ctx() context.Context {
	return records.WithActor(r.Request().Context(), "operator:"+r.user.Name)
}

// action answers a signed-in user.
type action func(r request) error

// signed lets an action be done by who is signed in, and has a role where one is wanted. What
// changes something wants the session's CSRF token.
func (c *Console) signed(do action, role records.UserRole) echo.HandlerFunc {
	return func(x echo.Context) error {
		g, err := c.gateway()
		if err != nil {
			return err
		}
		r := request{Context: x, Gateway: g}
		s, err := c.session(&r)
		if err != nil {
			return err
		}
		r.user, r.csrf = s.User, s.CSRF
		given := x.Request().Header.Get(headerCSRF)
		if x.Request().Method != http.MethodGet && subtle.ConstantTimeCompare([]byte(given), []byte(s.CSRF)) != 1 {
			return refusal(http.StatusForbidden, headerCSRF+": the session's token is missing; reload the page")
		}
		if role != "" && r.user.Role != role {
			return refusal(http.StatusForbidden, fmt.Sprintf("%s is a %s, but this requires the role %s", r.user.Name, r.user.Role, role))
		}
		return do(r)
	}
}

var errSignedOut = refusal(http.StatusUnauthorized, "sign in first")

// session finds who is signed in, and notes now and then that they are here.
func (c *Console) session(r *request) (s records.UserSession, err error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil || cookie.Value == "" {
		return s, errSignedOut
	}
	r.token = cookie.Value
	var due bool
	ctx, store := r.Request().Context(), r.Session.Store
	err = store.View(ctx, func(tx *records.Tx) error {
		s, due, err = records.UserSessionOf(tx, r.token)
		return err
	})
	if errors.Is(err, records.ErrNotFound) {
		return s, errSignedOut
	}
	if err == nil && due {
		err = store.Update(ctx, func(tx *records.Tx) error { return records.TouchSession(tx, r.token) })
	}
	return s, err
}

// credentials are a person's sign-in data.
type credentials struct {
	Name     string `json:"name"`
	Password string `json:"password"`
	Code     string `json:"code"`
}

// me is who is signed in, as the page needs it.
type me struct {
	Name string           `json:"name"`
	Role records.UserRole `json:"role"`
	CSRF string           `json:"csrf"`
}

// errCredentials does not reveal which of them is wrong.
var errCredentials = refusal(http.StatusUnauthorized, "name, password or code is wrong")

func (c *Console) signIn(x echo.Context) error {
	g, err := c.gateway()
	if err != nil {
		return err
	}
	var given credentials
	if err := readBody(x, &given); err != nil {
		return err
	}
	if err := c.mayTry(x, g, given.Name); err != nil {
		return err
	}
	u, step, err := c.identify(x.Request().Context(), g, given)
	if err != nil {
		return err
	}
	return c.begin(x, g, u.Name, func(tx *records.Tx) error {
		now, err := records.UserOf(tx, u.Name)
		switch {
		case err != nil:
			return err
		case now.Password != u.Password: // it was changed while it was tried
			return errCredentials
		}
		return records.UseCode(tx, u.Name, step)
	})
}

// begin begins a session of a user, once what proved that it is them is used up.
func (c *Console) begin(x echo.Context, g Gateway, name string, use func(*records.Tx) error) error {
	token, csrf := newToken(), newToken()
	var u records.User
	err := g.Session.Store.Update(records.WithActor(x.Request().Context(), "operator:"+name), func(tx *records.Tx) (err error) {
		if err := use(tx); err != nil {
			return err
		}
		if u, err = records.UserOf(tx, name); err != nil {
			return err
		}
		return records.SignIn(tx, name, token, csrf)
	})
	if errors.Is(err, records.ErrUsed) {
		return refusal(http.StatusUnauthorized, "this code or passkey response was already used: use the next code, or the passkey again")
	}
	if err != nil {
		return err
	}
	x.SetCookie(cookie(token, x.Request().TLS != nil || x.Request().Header.Get(echo.HeaderXForwardedProto) == "https", records.Longest))
	return x.JSON(http.StatusOK, me{u.Name, u.Role, csrf})
}

// mayTry bounds guesses: of one client with any name, and of one name from anywhere.
func (c *Console) mayTry(x echo.Context, g Gateway, name string) error {
	client := c.Guard.Client(x.Request())
	for _, who := range []string{"client " + client, "name " + name} {
		wait, err := c.tries.Take(x.Request().Context(), g.Session.Store, who)
		if err != nil {
			return err
		}
		if wait > 0 {
			x.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(wait.Seconds())+1))
			return refusal(http.StatusTooManyRequests, "too many attempts: try again later")
		}
	}
	return nil
}

// identify returns whose credentials these are, and which period the code is of.
func (c *Console) identify(ctx context.Context, g Gateway, given credentials) (u records.User, step uint64, err error) {
	err = g.Session.Store.View(ctx, func(tx *records.Tx) error {
		u, err = records.UserOf(tx, given.Name)
		return err
	})
	known := err == nil
	if !known {
		if !errors.Is(err, records.ErrNotFound) {
			return u, 0, err
		}
		u.Password = nobody
	}
	select {
	case c.calm <- struct{}{}:
		defer func() { <-c.calm }()
	case <-ctx.Done():
		return u, 0, ctx.Err()
	}
	fits, err := passwordFits(u.Password, given.Password)
	if err != nil {
		return u, 0, err
	}
	step, ok := stepOf(u.TOTP, given.Code, c.Now())
	if !known || !fits || !ok {
		return u, 0, errCredentials
	}
	return u, step, nil
}

func (c *Console) signOut(r request) error {
	if err := r.Session.Store.Update(r.ctx(), func(tx *records.Tx) error { return records.SignOut(tx, r.token) }); err != nil {
		return err
	}
	r.SetCookie(cookie("", false, -time.Second))
	return r.JSON(http.StatusOK, map[string]bool{"signedOut": true})
}

func (c *Console) me(r request) error {
	return r.JSON(http.StatusOK, me{r.user.Name, r.user.Role, r.csrf})
}

func cookie(token string, secure bool, lasts time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: token, Path: Root, MaxAge: int(lasts.Seconds()), HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	}
}

// newToken is 256 random bits.
func newToken() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}
