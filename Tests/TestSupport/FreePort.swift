import Foundation

/// Finds a TCP port of 127.0.0.1 that nobody listens on.
public enum FreePort {
    /// Binds port 0, reads what the kernel chose and lets go of it: free now, though not reserved.
    public static func find() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(descriptor, generic, length) == 0, getsockname(descriptor, generic, &length) == 0 else {
                    return nil
                }
                return UInt16(bigEndian: pointer.pointee.sin_port)
            }
        }
        guard let port else { throw POSIXError(.EADDRINUSE) }
        return Int(port)
    }
}
