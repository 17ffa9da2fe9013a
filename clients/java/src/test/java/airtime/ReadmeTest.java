package airtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import airtime.AirtimeClientTest.Service;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Goal: what the README shows runs. Method: its example is compiled, and places an order. */
class ReadmeTest {
  private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  @Test
  void theExampleBuys(@TempDir Path folder) throws Exception {
    Matcher example = EXAMPLE.matcher(Files.readString(Path.of("README.md")));
    assertEquals(true, example.find());
    try (Service service = new Service(
        exchange -> AirtimeClientTest.write(exchange, AirtimeClientTest.named("200 processing")),
        exchange -> AirtimeClientTest.write(exchange, AirtimeClientTest.replay()))) {
      Path source = Files.writeString(
          folder.resolve("Shop.java"),
          example.group(1)
              .replace("http://127.0.0.1:4010/v1", service.baseUrl())
              .replace("System.getenv(\"AIRTIME_API_KEY\")", "\"live_key\""));
      ByteArrayOutputStream printed = new ByteArrayOutputStream();
      String classpath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
      ToolProvider.getSystemJavaCompiler().run(null, printed, printed, "-cp", classpath, "-Werror", source.toString());
      assertEquals("", printed.toString());

      try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
        Constructor<?> shop = loader.loadClass("Shop").getDeclaredConstructor();
        shop.setAccessible(true);
        Method place = shop.getDeclaringClass().getDeclaredMethod("place", String.class);
        place.setAccessible(true);
        assertEquals("delivered", place.invoke(shop.newInstance(), "order-1"));
      }
      assertEquals("/v1/vtu/data/purchase", service.requests.get(0).path());
      assertEquals("/v1/transactions/order-1", service.requests.get(1).path());
      assertEquals(2, service.requests.size());
    }
  }
}
