package import Hummingbird
package import NIOCore

/// The context of a request: the connection it arrived on, so that faults can close it.
package struct EmulatorContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The connection that the request arrived on.
    package let connection: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        connection = source.channel
    }
}
