package skew;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/**
 * A weak PostgreSQL for the tests of a class.
 *
 * <pre>
 * &#64;RegisterExtension static Skew skew = Skew.at("read committed");
 * &#64;BeforeAll static void schema() { … DriverManager.getConnection(skew.jdbcUrl()) … }
 * &#64;SkewTest(runs = 100) void theLastOneIsSoldOnce() { … }
 * </pre>
 *
 * What is there when the first test runs is what every run begins with.
 */
public final class Skew
        implements BeforeAllCallback, AfterAllCallback, TestTemplateInvocationContextProvider {
    private final String isolation;
    private final List<String> options = new ArrayList<>();
    private Process process;
    private BufferedWriter orders;
    private BufferedReader answers;
    private String host;
    private int port;

    private Skew(String isolation) {
        this.isolation = isolation;
    }

    /** A database at this level: a SQL name, or an id; null is the level that each transaction asks for. */
    public static Skew at(String isolation) {
        return new Skew(isolation);
    }

    /** Another option of `skew serve`, such as `--replicated`. */
    public Skew with(String... words) {
        options.addAll(List.of(words));
        return this;
    }

    /** Where JDBC finds the database. */
    public String jdbcUrl() {
        return "jdbc:postgresql://" + host + ":" + port + "/test?user=postgres&sslmode=disable";
    }

    /** Where other clients find it. */
    public String url() {
        return "postgresql://postgres@" + host + ":" + port + "/test";
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        String binary = System.getenv().getOrDefault("SKEW_BINARY", "skew");
        List<String> command = new ArrayList<>(List.of(
                binary, "serve", "--port", "0", "--format", "json", "--stdin", "--seed", "1"));
        if (isolation != null) {
            command.addAll(List.of("--isolation", isolation));
        }
        command.addAll(options);
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String started = answer();
        host = field(started, "host");
        port = Integer.parseInt(field(started, "port"));
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        // The end of its input ends the database.
        orders.close();
        process.waitFor();
    }

    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return context.getRequiredTestMethod().isAnnotationPresent(SkewTest.class);
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        SkewTest test = context.getRequiredTestMethod().getAnnotation(SkewTest.class);
        String only = System.getenv("SKEW_SEED");
        long first = only == null ? test.seed() : Long.parseLong(only);
        long runs = only == null ? test.runs() : 1;
        Outcome outcome = new Outcome();
        return LongStream.range(first, first + runs).mapToObj(seed -> new Run(seed, outcome));
    }

    /** What the runs of one test share. */
    private static final class Outcome {
        boolean failed;
    }

    private final class Run implements TestTemplateInvocationContext {
        private final long seed;
        private final Outcome outcome;

        Run(long seed, Outcome outcome) {
            this.seed = seed;
            this.outcome = outcome;
        }

        @Override
        public String getDisplayName(int number) {
            return "seed " + seed;
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            ExecutionCondition isWanted = context -> outcome.failed
                    ? ConditionEvaluationResult.disabled("a run before it failed")
                    : ConditionEvaluationResult.enabled("no run has failed");
            BeforeTestExecutionCallback reset = context -> order("reset " + seed);
            TestExecutionExceptionHandler explain = (context, error) -> {
                outcome.failed = true;
                String why = field(order("explain"), "text");
                String words = error.getMessage() + "\n\nskew: SKEW_SEED=" + seed + " repeats it\n\n" + why;
                throw new AssertionError(words, error);
            };
            return List.of(isWanted, reset, explain);
        }
    }

    private synchronized String order(String line) throws IOException {
        orders.write(line + "\n");
        orders.flush();
        return answer();
    }

    private String answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the database has ended");
        }
        if (line.startsWith("{\"error\"")) {
            throw new IOException(field(line, "error"));
        }
        return line;
    }

    /** A field of a flat JSON object: a text or a number. */
    static String field(String json, String name) {
        int at = json.indexOf("\"" + name + "\":");
        if (at < 0) {
            throw new IllegalStateException("no `" + name + "` in " + json);
        }
        at += name.length() + 3;
        StringBuilder plain = new StringBuilder();
        if (json.charAt(at) != '"') {
            for (; Character.isDigit(json.charAt(at)); at++) {
                plain.append(json.charAt(at));
            }
            return plain.toString();
        }
        for (at++; json.charAt(at) != '"'; at++) {
            char c = json.charAt(at);
            if (c != '\\') {
                plain.append(c);
                continue;
            }
            char escaped = json.charAt(++at);
            switch (escaped) {
                case 'n' -> plain.append('\n');
                case 't' -> plain.append('\t');
                case 'r' -> plain.append('\r');
                case 'b' -> plain.append('\b');
                case 'f' -> plain.append('\f');
                case 'u' -> {
                    plain.append((char) Integer.parseInt(json.substring(at + 1, at + 5), 16));
                    at += 4;
                }
                default -> plain.append(escaped);
            }
        }
        return plain.toString();
    }
}
