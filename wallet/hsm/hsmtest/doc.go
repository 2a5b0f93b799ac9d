// Package hsmtest makes tokens of SoftHSM2 for tests, in programs built with the tag pkcs11.
package hsmtest
