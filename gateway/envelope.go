package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/httpserver"
)

// envelope is around every answer. Code is a JSON integer and data an object on success: clients
// trust that.
type envelope struct {
	Code    int     `json:"code"`
	SubCode int     `json:"subCode"`
	Msg     *string `json:"msg"`
	Data    any     `json:"data"`
}

// answer does not use echo's JSON, which parses the query string again for a parameter of its own.
func answer(c echo.Context, data any) error {
	text, err := json.Marshal(envelope{Data: data})
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, append(text, '\n'))
}

// onError handles every failed request: the user gets a text in their language, the log gets the
// cause.
func (s *Server) onError(err error, c echo.Context) {
	r := refusalOf(err)
	s.logCause(c, r)
	if c.Response().Committed {
		return
	}
	if r.retry > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(seconds(r.retry)))
	}
	msg := s.texts.text(languageOf(c.Request().Header.Get("lang")), faultTexts[r.fault], r.args...)
	if err := c.JSON(r.status(), envelope{Code: r.code(), SubCode: int(r.fault), Msg: &msg}); err != nil {
		s.Log.WithError(err).Debug("answering a gateway request")
	}
}

// logCause writes what the user does not see. A client that hung up is no fault of ours.
func (s *Server) logCause(c echo.Context, r *refusal) {
	if r.cause == nil {
		return
	}
	level := logrus.ErrorLevel
	if errors.Is(r.cause, context.Canceled) {
		level = logrus.DebugLevel
	}
	e := s.Log.WithFields(logrus.Fields{"request": httpserver.IDOf(c), "path": c.Request().URL.Path, "subCode": int(r.fault)}).WithError(r.cause)
	s.faults.Write(e, level, "gateway request")
}
