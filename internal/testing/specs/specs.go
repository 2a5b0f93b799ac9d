// Package specs reads the OpenAPI descriptions that tests compare answers with.
package specs

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"
)

// Of returns the routers of an API's descriptions.
func Of(t testing.TB, descriptions ...[]byte) (list []routers.Router) {
	t.Helper()
	for _, text := range descriptions {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		require.NoError(t, err)
		router, err := gorillamux.NewRouter(doc)
		require.NoError(t, err)
		list = append(list, router)
	}
	return list
}
