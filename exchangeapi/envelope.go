package exchangeapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"
)

// envelope is around every answer.
type envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

// printed is data that prints itself.
type printed interface{ appendJSON(b []byte) []byte }

func answer(c echo.Context, data any) error {
	if p, ok := data.(printed); ok {
		size := printedSize
		if _, one := data.(order); one {
			size = orderSize
		}
		b := p.appendJSON(append(make([]byte, 0, size), `{"code":0,"msg":"ok","data":`...))
		return c.JSONBlob(http.StatusOK, append(b, "}\n"...))
	}
	return c.JSON(http.StatusOK, envelope{Msg: "ok", Data: data})
}

// Room for a usual answer that prints itself: a depth of a hundred levels on each side, and one order.
const (
	printedSize = 6 << 10
	orderSize   = 1 << 10
)

// onError is where every request without success ends: the client gets code and text, the log gets the cause.
func (s *Server) onError(err error, c echo.Context) {
	r := refusalOf(err)
	s.logCause(c, r)
	if c.Response().Committed {
		return
	}
	if r.retry > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(seconds(r.retry)))
	}
	out := envelope{Code: int(r.code), Msg: r.msg}
	if r.code == codeGeneral {
		out.Data = struct{}{} // the public sample of this code has an empty object, those of the others null
	}
	if err := c.JSON(r.status(), out); err != nil {
		s.Log.WithError(err).Debug("answering an exchange request")
	}
}

// logCause writes what the client does not see. A client that hung up is no fault of ours.
func (s *Server) logCause(c echo.Context, r *refusal) {
	if r.cause == nil {
		return
	}
	level := logrus.WarnLevel
	switch {
	case errors.Is(r.cause, context.Canceled):
		level = logrus.DebugLevel
	case r.code == codeService:
		level = logrus.ErrorLevel
	}
	s.Log.WithFields(logrus.Fields{"path": c.Request().URL.Path, "code": int(r.code)}).WithError(r.cause).Log(level, "exchange request")
}
