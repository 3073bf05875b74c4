package realserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"sync"
	"time"
)

// identity has what a ZooKeeper and the connections to it show each other, made once for this process: its key, and a
// certificate that the key itself has signed. A client without the key is not let in. A connection after the first
// resumes its session, which takes a server a tenth of the time.
var identity = sync.OnceValues(func() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	is := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "locklab"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, is, is, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	if is, err = x509.ParseCertificate(raw); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(is)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: is}},
		RootCAs:      roots, ServerName: "localhost", ClientSessionCache: tls.NewLRUClientSessionCache(0),
	}, nil
})

// pemOf writes an identity as a ZooKeeper reads it.
func pemOf(id *tls.Config) (string, error) {
	shown := id.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(shown.PrivateKey)
	var b bytes.Buffer
	for _, block := range []*pem.Block{
		{Type: "PRIVATE KEY", Bytes: key}, {Type: "CERTIFICATE", Bytes: shown.Certificate[0]},
	} {
		_ = pem.Encode(&b, block) // a buffer takes all
	}
	return b.String(), err
}

// ConnectZooKeeper connects to a ZooKeeper of this process, and proves to it who connects.
func ConnectZooKeeper(network, addr string, timeout time.Duration) (net.Conn, error) {
	id, err := identity()
	if err != nil {
		return nil, err
	}
	return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, addr, id)
}
