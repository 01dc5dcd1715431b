import HeliographCrypto
import Testing

@Suite struct RSATests {
    /// Generating a key takes a tenth of a second, so the suite shares one.
    static let key = Result { try RSAPrivateKey.generate() }

    @Test func `a signature verifies with the public key and only for its message`() throws {
        let key = try Self.key.get()
        let signature = try key.signRS256(Array("header.claims".utf8))
        #expect(signature.count == 256)
        #expect(try key.publicKey.verifyRS256(signature: signature, message: Array("header.claims".utf8)))
        #expect(try !key.publicKey.verifyRS256(signature: signature, message: Array("header.claim".utf8)))
        #expect(try !key.publicKey.verifyRS256(signature: [], message: Array("header.claims".utf8)))
    }

    @Test func `RS256 is deterministic, as PKCS 1 v1.5 is`() throws {
        let key = try Self.key.get()
        #expect(try key.signRS256([1, 2, 3]) == key.signRS256([1, 2, 3]))
    }

    @Test func `another key does not verify`() throws {
        let other = try RSAPrivateKey.generate()
        let signature = try Self.key.get().signRS256([1])
        #expect(try !other.publicKey.verifyRS256(signature: signature, message: [1]))
    }

    @Test func `keys survive a round trip through PEM`() throws {
        let key = try Self.key.get()
        let again = try RSAPrivateKey(pem: key.pem())
        #expect(try again.signRS256([5]) == key.signRS256([5]))
        let publicKey = try RSAPublicKey(pem: key.publicKey.pem())
        #expect(try publicKey.verifyRS256(signature: key.signRS256([5]), message: [5]))
    }

    @Test func `the JWT of RFC 7515 A.2 is signed and verified as published`() throws {
        let key = try RSAPrivateKey(pem: Self.rfc7515Key)
        let message = Array(
            ("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
                + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ").utf8)
        #expect(Base64URL.encode(try key.signRS256(message)) == Self.rfc7515Signature)
        let signature = try #require(Base64URL.decode(Self.rfc7515Signature))
        #expect(try key.publicKey.verifyRS256(signature: signature, message: message))
    }

    @Test func `a public key has the numbers of its JSON Web Key`() throws {
        let key = try RSAPrivateKey(pem: Self.rfc7515Key)
        let numbers = try key.publicKey.numbers
        #expect(Base64URL.encode(numbers.modulus).hasPrefix("ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp"))
        #expect(Base64URL.encode(numbers.exponent) == "AQAB")
        let again = try RSAPublicKey(modulus: numbers.modulus, exponent: numbers.exponent)
        #expect(try again.verifyRS256(signature: key.signRS256([5]), message: [5]))
        #expect(try again.pem() == key.publicKey.pem())
    }

    @Test func `numbers that are not of a key of a safe size are refused`() throws {
        let numbers = try Self.key.get().publicKey.numbers
        let bad: [(modulus: [UInt8], exponent: [UInt8])] = [
            ([], numbers.exponent), (numbers.modulus, []), (numbers.modulus, [0]), (numbers.modulus, [1]),
            (numbers.modulus, [1, 0, 0, 0, 1]), (Array(numbers.modulus.prefix(128)), numbers.exponent),
            ([UInt8](repeating: 0xFF, count: 513), numbers.exponent),
        ]
        for (modulus, exponent) in bad {
            let error = #expect(throws: CryptoError.self) { try RSAPublicKey(modulus: modulus, exponent: exponent) }
            #expect(error?.code == .invalidKey)
        }
    }

    @Test(arguments: ["", "not a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func `text that is not a key is refused`(text: String) {
        let error = #expect(throws: CryptoError.self) { try RSAPrivateKey(pem: text) }
        #expect(error?.code == .invalidKey)
        #expect(throws: CryptoError.self) { try RSAPublicKey(pem: text) }
    }

    @Test func `a key of 1024 bits is refused`() {
        let error = #expect(throws: CryptoError.self) { try RSAPrivateKey.generate(bits: 1024) }
        #expect(error?.code == .invalidKey)
    }

    @Test func `the description of a key has nothing of it`() throws {
        #expect("\(try Self.key.get())" == "RSAPrivateKey")
    }
}

extension RSATests {
    /// The key of RFC 7515 appendix A.2, written as PKCS #1.
    static let rfc7515Key = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd/wWJcyQoTbji9k0
        l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL+yRT+SFd2lZS+pC
        gNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb/7OMg0LOL+bSf63kpaSHSX
        ndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uD
        Zlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxXFvUK+DWNmoudF8NAco9/h9iaGNj8
        q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQIDAQABAoIBABKucaRpzQorw35S
        bEUAVx8dYXUdZOlJcHtiWQ+dC6V8ljxAHj/PLyzTveyI5QO/xkObCyjIL303l2cf
        UhPu2MFaJdjVzqACXuOrLot/eSFvxjvqVidTtAZExqFRJ9mylUVAoLvhowVWmC1O
        n95fZCXxTUtxNEG1Xcc7m0rtzJKs45J+N/V9DP1edYH6USyPSWGp6wuA+KgHRnKK
        Vf9GRx80JQY7nVNkL17eHoTWEwga+lwi0FEoW9Y7lDtWXYmKBWhUE+U8PGxlJf8f
        40493HDw1WRQ/aSLoS4QTp3rn7gYgeHEvfJdkkf0UMhlknlo53M09EFPdadQ4TlU
        bjqKc50CgYEA4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH/5IB3jw3bcxGn6QLvnE
        tfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw/Py5PJdTJNPY8cQn7ouZ2KKDcmnPG
        BY5t7yLc1QlQ5xHdwW1VhvKn+nXqhJTBgIPgtldC+KDV5z+y2XDwGUcCgYEAuQPE
        fgmVtjL0Uyyx88GZFF1fOunH3+7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYs
        p1ZSe7zFYHj7C6ul7TjeLQeZD/YwD66t62wDmpe/HlB+TnBA+njbglfIsRLtXlnD
        zQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdcCgYAHAp9XcCSrn8wVkMVkKdb7
        DOX4IKjzdahm+ctDAJN4O/y7OW5FKebvUjdAIt2GuoTZ71iTG+7F0F+lP88jtjP4
        U4qe7VHoewl4MKOfXZKTe+YCS1XbNvfgwJ3Ltyl1OH9hWvu2yza7q+d5PCsDzqtm
        27kxuvULVeya+TEdAB1ijQKBgQCH/3r6YrVH/uCWGy6bzV1nGNOdjKc9tmkfOJmN
        54dxdixdpozCQ6U4OxZrsj3FcOhHBsqAHvX2uuYjagqvo3cOj1TRqNocX40omfCC
        Mx3bD1yPPf/6TI2XECva/ggqEY2mYzmIiA5LVVmc5nrybr+lssFKneeyxN2Wq93S
        0iJMdQKBgCGHewxzoa1r8ZMD0LETNrToK423K377UCYqXfg5XMclbrjPbEC3YI1Z
        NqMtuhdBJqUnBi6tjKMF+34Xf0CUN8ncuXGO2CAYvO8PdyCixHX52ybaDjy1FtCE
        6yUXjoKNXKvUm7MWGsAYH6f4IegOetN5NvmUMFStCSkh7ixZLkN1
        -----END RSA PRIVATE KEY-----
        """

    /// The signature of RFC 7515 appendix A.2.
    static let rfc7515Signature =
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2F"
        + "p5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQB"
        + "MHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeY"
        + "I2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
}
